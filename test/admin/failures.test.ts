import { expect, test } from 'vitest'
import { ManualClock } from '../../src/core/time.ts'
import { NOW } from '../support/fixtures.ts'
import { failRun } from '../watch/alerts/support/open-alerts.ts'
import { startConsole } from './support/start-console.ts'

const HOUR = 3_600_000

test('a kind of failure has its trend over the time that is asked for', async () => {
  const { store, get } = await startConsole({ clock: new ManualClock(NOW + 24 * HOUR) })
  for (const hours of [0.5, 0.7, 23.5]) await failRun(store, NOW + hours * HOUR)
  const [group] = (await get('/failures')).items
  expect(group).toMatchObject({ runs: 3, trend: [2, ...new Array(22).fill(0), 1] })
  const until = new Date(NOW + 48 * HOUR).toISOString()
  const [wide] = (await get(`/failures?since=24h&until=${until}`)).items
  expect(wide?.trend).toEqual([2, ...new Array(10).fill(0), 1, ...new Array(12).fill(0)])
})
