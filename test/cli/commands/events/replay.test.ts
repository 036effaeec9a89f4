import { expect, test } from 'vitest'
import { incoming } from '../../../support/fixtures.ts'
import { failRun, openTestProject } from '../../support/test-project.ts'

test('events replay starts runs of all matching workflows, or of one, and refuses an event without any', async () => {
  const { store, cli } = await openTestProject()
  const first = await failRun(store, 'evt_1')
  const replayed = await cli('events', 'replay', 'evt_1')
  expect(replayed.json.data.runs.map(({ workflow }: { workflow: string }) => workflow)).toEqual(['count', 'follow-up'])
  const [, followUp] = replayed.json.data.runs
  expect(await store.findRun(followUp.run)).toMatchObject({ origin: 'replay', originRun: first, status: 'pending' })
  expect((await cli('events', 'replay', 'evt_1', '--workflow', 'count')).json.data.runs).toHaveLength(1)
  expect(await cli('events', 'replay', 'evt_1', '--workflow', 'nightly')).toMatchObject({ exit: 1 })
  expect(await cli('events', 'replay', 'evt_1', '--workflow', 'gone')).toMatchObject({ exit: 5 })
  expect(await cli('events', 'replay', 'evt_none')).toMatchObject({ exit: 5 })
  expect(await cli('events', 'replay', 'evt_1', '--account', 'other')).toMatchObject({ exit: 5 })
  expect(await store.listEvents({ limit: 9 })).toHaveLength(1)
})

test('events replay selects events by time, after a confirmation with their number', async () => {
  const { store, cli } = await openTestProject()
  for (const [n, ago] of [
    [1, 7_200_000],
    [2, 60_000],
    [3, 30_000],
  ] as const) {
    await store.saveDelivery(incoming(`evt_${n}`, { workflows: [], receivedAt: Date.now() - ago }))
  }
  const args = ['events', 'replay', '--since', '1h', '--workflow', 'count']
  const asked = await cli(...args)
  expect(asked).toMatchObject({ exit: 3 })
  expect(asked.json.error.message).toContain('replay 2 events as 2 new runs')
  expect((await cli(...args, '--dry-run')).json.data).toMatchObject({
    dryRun: true,
    matched: 2,
    runs: 2,
    first: ['evt_2', 'evt_3'],
  })
  const { operation, ...rest } = (await cli(...args, '--yes')).json.data
  expect(rest).toEqual({ kind: 'replay', dryRun: false, status: 'done', done: 2, refused: 0, refusals: [] })
  const replayed = await store.listRuns({ limit: 9, origin: 'replay' })
  expect(replayed.map(({ eventId }) => eventId)).toEqual(['evt_3', 'evt_2'])
  const audited = await store.listActions({ limit: 9, action: 'event.replay' })
  expect(audited.map(({ target, parameters }) => [target, parameters.operation])).toEqual([
    ['evt_3', operation],
    ['evt_2', operation],
  ])
  expect((await cli('operations', 'list')).json.data).toMatchObject([{ id: operation, kind: 'replay', status: 'done' }])
  expect((await cli('operations', 'show', operation.slice(0, 17))).json.data).toMatchObject({
    operation: { done: 2, runs: 2 },
  })
  expect(await cli('operations', 'abort', operation.slice(0, 17))).toMatchObject({
    json: { error: { code: 'conflict' } },
  })
  expect(await cli('operations', 'show', 'opr_none')).toMatchObject({ exit: 5 })
})
