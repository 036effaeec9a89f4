import { expect, test } from 'vitest'
import { NOW } from '../support/fixtures.ts'
import type { OpenStore } from './open-store.ts'

const HOUR = 3_600_000

export function describeTicks(open: OpenStore): void {
  test('records a tick once, whoever fires it', async () => {
    const { store, reopen } = open()
    const other = reopen()
    const tick = { scheduledFor: NOW, missed: 0 }
    const runs = [await store.recordTick('nightly', tick, NOW + 1), await other.recordTick('nightly', tick, NOW + 2)]
    expect(runs.filter((run) => run !== null)).toHaveLength(1)
    expect(await store.listRuns({ limit: 10 })).toMatchObject([{ workflow: 'nightly', tickAt: NOW, eventId: null }])
  })

  test('tells a run its moment, the one before and what was missed between', async () => {
    const { store } = open()
    await store.recordTick('nightly', { scheduledFor: NOW, missed: 0 }, NOW)
    await store.recordTick('nightly', { scheduledFor: NOW + 3 * HOUR, missed: 2 }, NOW + 3 * HOUR)
    const claimed = await store.claimRuns('wrk_1', 10, NOW + 3 * HOUR)
    expect(claimed.map((run) => run.cause)).toEqual([
      { kind: 'tick', scheduledFor: NOW, lastRunAt: null, missed: 0 },
      { kind: 'tick', scheduledFor: NOW + 3 * HOUR, lastRunAt: NOW, missed: 2 },
    ])
  })

  test('remembers a schedule and its last moment', async () => {
    const { store } = open()
    expect(await store.startSchedule('nightly', '0 3 * * *', NOW)).toBe(NOW)
    expect(await store.startSchedule('nightly', '0 3 * * *', NOW + HOUR)).toBe(NOW)
    await store.recordTick('nightly', { scheduledFor: NOW + HOUR, missed: 0 }, NOW + HOUR)
    expect(await store.startSchedule('nightly', '0 3 * * *', NOW + 2 * HOUR)).toBe(NOW + HOUR)
  })

  test('starts a changed line from now, with no past to catch up with', async () => {
    const { store } = open()
    await store.startSchedule('nightly', '0 3 * * *', NOW)
    expect(await store.startSchedule('nightly', '* * * * *', NOW + HOUR)).toBe(NOW + HOUR)
  })
}
