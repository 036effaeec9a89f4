import { expect } from 'vitest'
import { queueRun } from '../../support/fixtures.ts'
import { runHere } from '../support/run-here.ts'
import { statusOf, test } from '../support/test-project.ts'

test('a paused workflow holds its runs, and releases them when it is resumed', async ({ dataDir, store, cli }) => {
  const id = await queueRun(store, 'evt_1', 'count', Date.now())
  expect((await cli('workflows', 'pause', 'count')).json.data).toMatchObject({ held: 1, pausedAt: expect.any(String) })
  expect((await runHere(dataDir, ['workflows', 'pause', 'count'])).stdout).toContain('was already paused; 1 of its')
  expect(await store.claimRuns('wrk_1', 9, Date.now())).toEqual([])
  const listed = (await cli('workflows', 'list')).json.data
  expect(listed).toMatchObject([
    { id: 'count', held: 1, pausedAt: expect.stringMatching(/Z$/) },
    { id: 'follow-up' },
    {},
  ])
  expect((await runHere(dataDir, ['workflows', 'show', 'count'])).stdout).toMatch(/paused since .*, 1 runs held/)
  expect(await cli('runs', 'resume', id)).toMatchObject({ exit: 1, json: { error: { code: 'conflict' } } })
  expect((await runHere(dataDir, ['workflows', 'resume', 'count'])).stdout).toContain('1 held runs were released')
  expect(await statusOf(store, id)).toBe('pending')
  expect(await cli('workflows', 'pause', 'cuont')).toMatchObject({
    exit: 5,
    json: { error: { fix: 'Choose one of: count, follow-up, nightly.' } },
  })
})

test('runs that an interrupted resume left held are recovered', async ({ store }) => {
  const id = await queueRun(store, 'evt_1', 'count', Date.now())
  await store.pauseWorkflow('count', Date.now())
  await store.holdRuns('count', 10)
  await store.recoverRuns(Date.now(), 30_000)
  expect(await statusOf(store, id)).toBe('waiting')
  await store.resumeWorkflow('count')
  await store.recoverRuns(Date.now(), 30_000)
  expect(await statusOf(store, id)).toBe('pending')
})
