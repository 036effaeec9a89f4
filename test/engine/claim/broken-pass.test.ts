import { expect } from 'vitest'
import { awaitFound } from '../../support/await-runs.ts'
import { test } from '../../support/test-engine.ts'
import { waiting } from '../support/transfer-waits.ts'

test('a run that was canceled while its pass broke is told as lost, and not as parked', async ({ engine }) => {
  const findMatch = async (run: string) => {
    await engine.store.cancelRun(run, 'no', engine.clock.now())
    throw new Error('the database is away')
  }
  await engine.start([waiting()], { store: { ...engine.store, findMatch } })
  const { id } = await engine.run('waiting')
  const before = engine.heard.length
  engine.clock.advance('1h')
  const end = await awaitFound(engine.notices, async () => {
    const ends = engine.heard.slice(before).filter((notice) => 'run' in notice && notice.run === id)
    return ends.find(({ kind }) => kind === 'run.parked' || kind === 'run.lost') ?? null
  })
  expect(end).toMatchObject({ kind: 'run.lost' })
})
