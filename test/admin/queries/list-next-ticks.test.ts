import { expect, test } from 'vitest'
import { planCron, planOnce } from '../../../src/core/service/plan-schedule.ts'
import { isoTime } from '../../../src/core/time.ts'
import { startConsole } from '../support/start-console.ts'

const MINUTE = 60_000

test('a moment that has its tick since a clock was ahead is not named as one to come', async () => {
  const { get, store, clock } = await startConsole()
  const now = clock.now()
  const made = { id: 'sch_1', name: 'each minute', owner: 'person', madeBy: 'cli:ann', input: null } as const
  await store.addSchedule({ ...made, workflow: 'count', plan: planCron('* * * * *', {}) }, now)
  const after = (minutes: number) => isoTime(now + minutes * MINUTE)
  expect((await get('/schedules')).items).toMatchObject([{ next: [1, 2, 3, 4, 5].map(after) }])
  await store.recordTick('sch_1', { scheduledFor: now + MINUTE, missed: 0 }, now + MINUTE)
  await store.recordTick('sch_1', { scheduledFor: now + 3 * MINUTE, missed: 0 }, now + 3 * MINUTE)
  expect((await get('/schedules')).items).toMatchObject([{ nextAt: after(2), next: [2, 4, 5, 6, 7].map(after) }])
  expect((await get('/overview')).upNext).toMatchObject([2, 4, 5, 6, 7].map((minutes) => ({ at: after(minutes) })))
})

test('a moment is one to come until each account of its schedule has its tick', async () => {
  const { get, store, clock } = await startConsole()
  const now = clock.now()
  const made = { id: 'sch_1', name: 'each minute', owner: 'person', madeBy: 'cli:ann', input: null } as const
  const plan = planCron('* * * * *', { account: ['shop', 'lab'] })
  await store.addSchedule({ ...made, workflow: 'count', plan }, now)
  const after = (minutes: number) => isoTime(now + minutes * MINUTE)
  const record = (account: string, minutes: number) => {
    const moment = now + minutes * MINUTE
    return store.recordTick('sch_1', { scheduledFor: moment, missed: 0 }, moment, { account })
  }
  for (const account of ['shop', 'lab']) await record(account, 1)
  await record('shop', 2)
  expect((await get('/schedules')).items).toMatchObject([{ next: [2, 3, 4, 5, 6].map(after) }])
})

test('events that are to be sent leave the ticks of others in the overview', async () => {
  const { get, store, clock } = await startConsole()
  const now = clock.now()
  const made = { owner: 'person', madeBy: 'cli:ann', input: null } as const
  await store.addSchedule(
    { ...made, id: 'sch_9', name: 'daily', workflow: 'count', plan: planCron('0 0 * * *', {}) },
    now,
  )
  const [due] = await store.listDueSchedules(now, { limit: 1 })
  await store.lookAtSchedule('sch_9', { version: due?.version ?? 0, nextAt: now + 12 * 60 * MINUTE }, now)
  for (let index = 0; index < 6; index++) {
    const sent = { id: `sch_${index}`, name: `evt_${index}`, workflow: null, plan: planOnce(now + MINUTE, {}) }
    await store.addSchedule({ ...made, ...sent, input: '{}' }, now)
  }
  expect((await get('/overview')).upNext).toMatchObject(Array(5).fill({ schedule: 'daily' }))
})
