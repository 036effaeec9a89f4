import { expect, test } from 'vitest'
import { saveLine } from '../../support/lines.ts'
import { runHere } from '../support/run-here.ts'
import { openTestProject, statusOf } from '../support/test-project.ts'

test('schedules are listed with their next time, run by hand, paused and resumed', async () => {
  const { dataDir, store, cli } = await openTestProject()
  await saveLine(store, 'nightly', Date.now())
  const [schedule] = (await cli('schedules', 'list')).json.data
  expect(schedule).toMatchObject({ workflow: 'nightly', lastTickAt: null, missed: 0, skipped: 0, unfinished: 0 })
  expect(schedule.nextAt).toMatch(/T03:00:00\.000Z$/)
  const [made] = (await cli('schedules', 'run', 'nightly')).json.data
  expect(await store.findRun(made.id)).toMatchObject({ origin: 'manual', status: 'pending', workflow: 'nightly' })
  const [second] = (await cli('schedules', 'run', 'nightly')).json.data
  expect(await statusOf(store, second.id)).toBe('waiting')
  expect((await cli('schedules', 'pause', 'nightly')).json.data.pausedAt).not.toBeNull()
  expect((await runHere(dataDir, ['schedules', 'pause', 'nightly'])).stdout).toContain('was already paused')
  expect((await cli('schedules', 'list')).json.data).toMatchObject([{ nextAt: null, unfinished: 2 }])
  expect((await cli('schedules', 'resume', 'nightly')).json.data.pausedAt).toBeNull()
  expect(await cli('schedules', 'run', 'count')).toMatchObject({ exit: 5 })
})

test('a schedule of several accounts run by hand starts one run for each, and answers all of them', async () => {
  const { store, cli } = await openTestProject()
  await saveLine(store, 'nightly', Date.now(), { account: ['acme', 'default'] })
  const made = (await cli('schedules', 'run', 'nightly')).json.data
  expect(made).toMatchObject([{ account: 'acme' }, { account: 'default' }])
  for (const { id } of made) expect(await store.findRun(id)).toMatchObject({ origin: 'manual' })
})
