import { expect } from 'vitest'
import { type HourCount, listHoursNow } from '../../src/core/store/run-hour.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'

const HOUR = 3_600_000
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
})
