import { expect, test } from 'vitest'
import type { Store } from '../../../../src/core/store/store.ts'
import { queueRun } from '../../../support/fixtures.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'

/** A run of `workflow` that failed in `step` with this message. */
async function failWith(
  store: Store,
  message: string,
  { eventId = 'evt_1', step = 'copy', workflow = 'follow-up' } = {},
) {
  const id = await queueRun(store, eventId, workflow, Date.now())
  const [run] = await store.claimRuns('wrk_1', 1, Date.now())
  if (!run) throw new Error('a run was queued')
  await store.failRun(run.lease, { name: 'Error', message, step }, Date.now())
  return id
}

test('runs summary groups failures by kind, and a group is listed and retried as one', async () => {
  const { dataDir, store, cli } = await openTestProject()
  const same = [
    await failWith(store, 'fil_1 has 12 bytes', { eventId: 'evt_1' }),
    await failWith(store, 'fil_2 has 7 bytes', { eventId: 'evt_2' }),
  ]
  const other = await failWith(store, 'no luck', { eventId: 'evt_3', step: 'hash' })
  const summary = (await cli('runs', 'summary')).json
  expect(summary).toMatchObject({ ok: true, waitingForPerson: 0, searched: { isComplete: true, rows: 3 } })
  expect(summary.data).toHaveLength(2)
  const group = summary.data.find(({ runs }: { runs: number }) => runs === 2)
  expect(group).toMatchObject({ message: '<id> has <n> bytes', step: 'copy', lastRun: same[1] })
  expect(group.lastAt).toMatch(/^\d{4}-\d\d-\d\dT/)
  const listed = (await cli('runs', 'list', '--group', group.id)).json.data
  expect(listed.map(({ id }: { id: string }) => id)).toEqual(same.toReversed())
  const asked = await runHere(dataDir, ['runs', 'retry', '--group', group.id])
  expect(asked).toMatchObject({ exit: 3 })
  expect(asked.stderr).toContain(`retry 2 runs (of the group ${group.id})`)
  expect((await cli('runs', 'retry', '--group', group.id, '--yes')).json.data).toMatchObject({ done: 2 })
  expect((await store.findRun(other))?.status).toBe('failed')
})
