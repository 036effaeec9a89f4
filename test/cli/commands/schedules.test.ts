import { expect, test } from 'vitest'
import { openTestProject, statusOf } from '../support/test-project.ts'

test('schedules are listed with their next time, run by hand, paused and resumed', async () => {
  const { store, cli } = await openTestProject()
  await store.startSchedule('nightly', '0 3 * * *', Date.now())
  const [schedule] = (await cli('schedules', 'list')).json.data
  expect(schedule).toMatchObject({ workflow: 'nightly', lastTickAt: null, missed: 0, skipped: 0, unfinished: 0 })
  expect(schedule.nextAt).toMatch(/T03:00:00\.000Z$/)
  const made = (await cli('schedules', 'run', 'nightly')).json.data
  expect(await store.findRun(made.run)).toMatchObject({ origin: 'manual', status: 'pending', workflow: 'nightly' })
  const second = (await cli('schedules', 'run', 'nightly')).json.data
  expect(await statusOf(store, second.run)).toBe('waiting')
  expect((await cli('schedules', 'pause', 'nightly')).json.data).toEqual({ workflow: 'nightly', changed: true })
  expect((await cli('schedules', 'pause', 'nightly')).json.data).toEqual({ workflow: 'nightly', changed: false })
  expect((await cli('schedules', 'list')).json.data).toMatchObject([{ nextAt: null, unfinished: 2 }])
  expect((await cli('schedules', 'resume', 'nightly')).json.data).toEqual({ workflow: 'nightly', changed: true })
  expect(await cli('schedules', 'run', 'count')).toMatchObject({ exit: 5 })
})
