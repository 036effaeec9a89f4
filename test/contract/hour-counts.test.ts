import { expect } from 'vitest'
import { type HourCount, listHoursNow } from '../../src/core/store/run-hour.ts'
import { countDueHours } from '../../src/schedule/hour-counter.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimLease } from './support/waiting-runs.ts'

const HOUR = 3_600_000
const NO_TIMES = { p50Ms: null, p95Ms: null }
const START = Math.ceil(NOW / HOUR) * HOUR

describeStores((test) => {
  test('the runs of an hour are counted by workflow and status, slice by slice', async ({ store }) => {
    for (const [at, workflow] of [
      [-1, 'copy'],
      [0, 'copy'],
      [1, 'report'],
      [2, 'copy'],
      [HOUR - 1, 'copy'],
      [HOUR, 'copy'],
    ] as const)
      await queueRun(store, `evt_${at}`, workflow, START + at)
    const [run] = await store.claimRuns('wrk_1', 1, START + HOUR)
    if (run === undefined) throw new Error('no run could be claimed')
    const hour = START / HOUR
    for (const rows of [1, 2, 3, 100]) {
      const sums = new Map<string, number>()
      for (let after: string | null = null; ; ) {
        const { runs, next }: HourCount = await store.countHourRuns(hour, { rows, after })
        for (const each of runs) {
          const key = `${each.workflow} ${each.status}`
          sums.set(key, (sums.get(key) ?? 0) + each.runs)
        }
        if (next === null) break
        after = next
      }
      expect(Object.fromEntries(sums)).toEqual({ 'copy pending': 3, 'report pending': 1 })
    }
  })

  test('the hours up to now have the runs that nobody has counted yet, and those of the present hour', async ({
    store,
  }) => {
    await queueRun(store, 'evt_1', 'copy', START)
    await queueRun(store, 'evt_2', 'copy', START + HOUR)
    const hours = await listHoursNow(store, START, START + HOUR)
    expect(hours.map(({ hour, runs }) => [hour * HOUR - START, runs])).toEqual([
      [0, 1],
      [HOUR, 1],
    ])
  })

  test('counts of before a run ended do not take the place of newer ones, in turn or again', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const hour = Math.floor(NOW / HOUR)
    const later = (hour + 1) * HOUR
    const statuses = async () => (await store.listRunHours({ since: NOW })).map(({ status }) => status)
    const first = await store.findDueHour(later)
    if (first === null) throw new Error('no hour is due')
    const stale = {
      runs: [{ hour, workflow: 'follow-up', status: 'running', runs: 1, ...NO_TIMES } as const],
      deliveries: [],
    }
    await store.failRun(lease, { name: 'Error', message: 'no' }, later)
    await countDueHours(store, later)
    expect(await statuses()).toEqual(['failed'])
    await store.saveHour(first, stale)
    expect(await statuses()).toEqual(['failed'])
    await store.retryRun(lease.runId, later)
    const again = await store.findDueHour(later)
    expect(again).toMatchObject({ hour })
    if (again === null) return
    await store.cancelRun(lease.runId, 'a test', later)
    await countDueHours(store, later)
    await store.saveHour(again, stale)
    expect(await statuses()).toEqual(['canceled'])
    // Marked anew, and not by the version that was read before.
    await store.retryRun(lease.runId, later)
    await store.saveHour(again, stale)
    await countDueHours(store, later)
    expect(await statuses()).toEqual(['pending'])
  })
})
