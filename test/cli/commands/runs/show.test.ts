import { expect, test } from 'vitest'
import { checkpoint, queueRun } from '../../../support/fixtures.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'

test('"runs show" says of a run at work for how long nothing has ended, and which step was the last', async () => {
  const { store, dataDir } = await openTestProject()
  const begunAt = Date.now() - 200_000
  const id = await queueRun(store, 'evt_1', 'stuck', begunAt)
  const [claimed] = await store.claimRuns('wrk_1', 1, begunAt)
  if (!claimed) throw new Error('a run was queued')
  const save = (key: string, finishedAt: number | null) =>
    store.saveCheckpoint(claimed.lease, checkpoint(key, { status: finishedAt ? 'completed' : 'started', finishedAt }))
  const shown = async () => (await runHere(dataDir, ['runs', 'show', id])).stdout
  await save('copy', begunAt + 10_000)
  expect(await shown()).toMatch(
    /why +nothing has ended for 3 min 1\d s, since step "copy": a step is at work, or its code awaits something else/,
  )
  await save('mail', null)
  expect(await shown()).toMatch(/since step "copy": step "mail" is at work/)
  await save('mail', Date.now())
  expect(await shown()).not.toContain('nothing has ended')
})
