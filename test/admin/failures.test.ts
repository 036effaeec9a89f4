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

test('runs are found by whether a person has resolved them, by a parameter and by words', async () => {
  const { store, get } = await startConsole({ clock: new ManualClock(NOW + HOUR) })
  const [first, second] = [await failRun(store, NOW + 1_000), await failRun(store, NOW + 2_000)]
  await store.resolveRun(first, { by: 'cli:ada', at: NOW + 3_000, reason: 'copied by hand' })
  const find = async (query: string) => (await get(`/runs?${query}`)).items.map(({ id }) => id)
  expect([await find('resolved=true'), await find('q=resolved:true')]).toEqual([[first], [first]])
  expect([await find('resolved=false&status=failed'), await find('q=resolved:false')]).toEqual([[second], [second]])
})

test('an operation that resolves needs a reason, which each run keeps with the person', async () => {
  const { store, ask } = await startConsole()
  const start = (reason?: string) => {
    const body = JSON.stringify({ kind: 'resolve', filter: { status: 'failed', resolved: 'false' }, reason })
    return ask('/operations', { method: 'POST', body })
  }
  const run = await failRun(store, NOW + 1_000)
  const refused = await start()
  expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_request' }])
  expect(await store.listBulks({ limit: 1 })).toEqual([])
  expect((await start('copied by hand')).status).toBe(200)
  const resolution = { reason: 'copied by hand' }
  await expect.poll(() => store.findRun(run), { timeout: 30_000 }).toMatchObject({ resolution })
})
