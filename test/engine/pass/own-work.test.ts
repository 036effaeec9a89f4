import { webcrypto } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

/** One pass of two branches: a sleep, and a step behind an await of the code's own. */
async function sleepBeside(own: () => Promise<unknown>, options: { reportsTimers?: boolean } = {}) {
  const engine = createTestEngine()
  const done: string[] = []
  await engine.start(
    [
      define('branches', ({ step }) =>
        Promise.all([step.sleep('a day', '1d'), own().then(() => step.run('work', () => void done.push('work')))]),
      ),
    ],
    options,
  )
  const begunAt = performance.now()
  const run = await engine.run('branches')
  return { run, done, engine, ms: performance.now() - begunAt }
}

const digest = () => webcrypto.subtle.digest('SHA-256', new Uint8Array(1_000_000))
const turns = async () => {
  for (let each = 0; each < 50; each++) await turn()
}
const mixed = async () => {
  for (let each = 0; each < 5; each++) {
    await readFile(import.meta.filename)
    await digest()
    await turn()
  }
}
const OWN = {
  'a digest': digest,
  'a file read': () => readFile(import.meta.filename),
  'a dynamic import': () => import('node:dns/promises'),
  'turns of the event loop': turns,
  'several of these in turn': mixed,
} satisfies Record<string, () => Promise<unknown>>

test.each(Object.entries(OWN))('a branch that awaits %s does not wait out the sleep beside it', async (_, own) => {
  const { run, done, engine } = await sleepBeside(own)
  expect(done).toEqual(['work'])
  expect(run).toMatchObject({ status: 'waiting', reason: 'sleeps in step "a day"' })
  expect(engine.heard.filter(({ kind }) => kind === 'code.pending')).toEqual([])
})

test('a pass parks after a quarter of a second of stillness, and tells the place of what it left', async () => {
  const { run, done, engine } = await sleepBeside(() => delay(20_000, undefined, { ref: true }))
  expect(run).toMatchObject({ status: 'waiting', reason: 'sleeps in step "a day"' })
  expect(done).toEqual([])
  expect(engine.heard.filter(({ kind }) => kind === 'code.pending')).toEqual([
    { kind: 'code.pending', run: run.id, workflow: 'branches', place: expect.stringContaining('own-work.test.ts:') },
  ])
})

test('a timer outside steps is told once, with its place, where timers are told', async () => {
  const { engine, run } = await sleepBeside(() => Promise.all([delay(1), AbortSignal.timeout(60_000)]), {
    reportsTimers: true,
  })
  expect(engine.heard.filter(({ kind }) => kind === 'code.timer')).toEqual([
    { kind: 'code.timer', run: run.id, workflow: 'branches', place: expect.stringContaining('own-work.test.ts:') },
  ])
  const silent = await sleepBeside(() => delay(1))
  expect(silent.engine.heard.filter(({ kind }) => kind === 'code.timer')).toEqual([])
})
