import { expect } from 'vitest'
import type { NewSchedule } from '../../src/core/runs/schedule.ts'
import { planCron, planOnce } from '../../src/core/service/plan-schedule.ts'
import { checkpoint, NOW, queueRun } from '../support/fixtures.ts'
import { saveLine } from '../support/lines.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'

const HOUR = 3_600_000

function acme(change: Partial<NewSchedule> = {}): NewSchedule {
  const made = { id: 'sch_1', name: 'acme', owner: 'person', madeBy: 'ann' } as const
  return { ...made, workflow: 'mirror', plan: planCron('0 3 * * *'), input: '{"folder":"/acme"}', ...change }
}

describeStores((test) => {
  test('a schedule is found by its id and its name, and its name is taken once', async ({ store, reopen }) => {
    await saveLine(store, 'nightly', NOW)
    await store.addSchedule(acme(), NOW)
    const other = await reopen()
    await expect(other.addSchedule(acme({ id: 'sch_2' }), NOW)).rejects.toMatchObject({ code: 'conflict' })
    await expect(other.addSchedule(acme({ id: 'sch_2', name: 'nightly' }), NOW)).rejects.toThrow(/named "nightly"/)
    expect(await other.findSchedule('acme')).toEqual(await store.findSchedule('sch_1'))
    expect(await store.listSchedules({ limit: 9 })).toMatchObject([
      { id: 'nightly', owner: 'module', madeBy: 'nightly.workflow.ts', workflow: 'nightly', input: null },
      { id: 'sch_1', owner: 'person', madeBy: 'ann', workflow: 'mirror', input: '{"folder":"/acme"}', startedAt: NOW },
    ])
    expect(await store.listSchedules({ limit: 9, owner: 'person' })).toMatchObject([{ id: 'sch_1' }])
    expect(await store.listSchedules({ limit: 9, workflow: 'nightly' })).toMatchObject([{ id: 'nightly' }])
    expect(await store.listSchedules({ limit: 1, after: 'nightly' })).toMatchObject([{ id: 'sch_1' }])
  })

  test('the line of a module that takes the name later has a history of its own', async ({ store }) => {
    await store.addSchedule(acme(), NOW)
    await store.recordTick('sch_1', { scheduledFor: NOW + HOUR, missed: 0 }, NOW + HOUR)
    await saveLine(store, 'acme', NOW)
    expect(await store.recordTick('acme', { scheduledFor: NOW + HOUR, missed: 0 }, NOW + HOUR)).not.toBeNull()
    expect((await store.findSchedule('acme'))?.id).toBe('acme')
    expect((await store.findSchedule('sch_1'))?.name).toBe('acme')
  })

  test('the run of a tick has the input of that moment, its tick, and goes on after an edit', async ({ store }) => {
    await store.addSchedule(acme(), NOW)
    await store.recordTick('sch_1', { scheduledFor: NOW + HOUR, missed: 2 }, NOW + HOUR)
    await store.editSchedule({ ...acme(), input: '{"folder":"/b"}' }, NOW + HOUR)
    const run = await store.recordTick('sch_1', { scheduledFor: NOW + 2 * HOUR, missed: 0 }, NOW + 2 * HOUR)
    const claimed = await store.claimRuns('wrk_1', 9, NOW + 2 * HOUR)
    expect(claimed.map(({ cause }) => cause)).toMatchObject([
      { kind: 'call', input: '{"folder":"/acme"}', tick: { scheduledFor: NOW + HOUR, lastRunAt: null, missed: 2 } },
      { kind: 'call', input: '{"folder":"/b"}', tick: { scheduledFor: NOW + 2 * HOUR, lastRunAt: NOW + HOUR } },
    ])
    expect(claimed.map(({ cause }) => cause.kind === 'call' && cause.root)).toMatchObject([
      { kind: 'tick', schedule: 'sch_1' },
      { kind: 'tick', schedule: 'sch_1' },
    ])
    expect(await store.findRun(run ?? '')).toMatchObject({
      workflow: 'mirror',
      schedule: 'acme',
      tickAt: NOW + 2 * HOUR,
    })
    await store.removeSchedule(acme())
    expect(await store.findRun(run ?? '')).toMatchObject({ schedule: 'sch_1' })
    const gone = store.recordTick('sch_1', { scheduledFor: NOW, missed: 0 }, NOW)
    await expect(gone).rejects.toMatchObject({ code: 'not_found' })
  })

  test('ticks of two schedules of one workflow never wait for each other', async ({ store }) => {
    await store.addSchedule(acme(), NOW)
    await store.addSchedule(acme({ id: 'sch_2', name: 'other' }), NOW)
    const tick = { scheduledFor: NOW + HOUR, missed: 0 }
    const record = (id: string, at: number) =>
      store.recordTick(id, { ...tick, scheduledFor: at }, NOW + HOUR, { overlap: 'queue' })
    const runs = [await record('sch_1', NOW + 1), await record('sch_2', NOW + 1), await record('sch_1', NOW + 2)]
    const found = await Promise.all(runs.map((run) => store.findRun(run ?? '')))
    expect(found.map((run) => run?.status)).toEqual(['pending', 'pending', 'waiting'])
  })

  test('only what is due is read, the longest due first, page by page', async ({ store }) => {
    for (const n of [3, 1, 2]) {
      await store.addSchedule(acme({ id: `sch_${n}`, name: `s${n}`, plan: planOnce(NOW + n * HOUR) }), NOW)
    }
    expect(await store.listDueSchedules(NOW, { limit: 9 })).toEqual([])
    expect(await store.nextScheduleAt(NOW)).toBe(NOW + HOUR)
    const first = await store.listDueSchedules(NOW + 2 * HOUR, { limit: 1 })
    expect(first).toMatchObject([{ id: 'sch_1', nextAt: NOW + HOUR, lastAt: NOW, isPaused: false }])
    const after = first[0]
    expect(await store.listDueSchedules(NOW + 2 * HOUR, { limit: 9, ...(after && { after }) })).toMatchObject([
      { id: 'sch_2' },
    ])
    expect(await store.listSchedules({ limit: 2, order: 'next' })).toMatchObject([{ id: 'sch_1' }, { id: 'sch_2' }])
  })

  test('a look that saw another version changes nothing', async ({ store }) => {
    await store.addSchedule(acme(), NOW)
    const [due] = await store.listDueSchedules(NOW, { limit: 1 })
    const look = { version: due?.version ?? 0, nextAt: NOW + 9 * HOUR }
    await store.editSchedule({ ...acme(), plan: planCron('0 4 * * *') }, NOW + 1)
    await store.lookAtSchedule('sch_1', look, NOW + 2)
    expect(await store.recordTick('sch_1', { scheduledFor: NOW + 2, missed: 0 }, NOW + 2, { look })).toBeUndefined()
    expect(await store.listDueSchedules(NOW + 2, { limit: 9 })).toMatchObject([{ id: 'sch_1', lastAt: NOW + 1 }])
  })

  test('a schedule of one moment is done with its tick, and goes after a while', async ({ store }) => {
    await store.addSchedule(acme({ plan: planOnce(NOW + HOUR) }), NOW)
    const [due] = await store.listDueSchedules(NOW + HOUR, { limit: 1 })
    const look = { version: due?.version ?? -1, nextAt: null }
    await store.recordTick('sch_1', { scheduledFor: NOW + HOUR, missed: 0 }, NOW + HOUR, { look })
    expect(await store.findSchedule('acme')).toMatchObject({ nextAt: null, doneAt: NOW + HOUR, handledAt: NOW + HOUR })
    expect(await store.listDueSchedules(NOW + 9 * HOUR, { limit: 9 })).toEqual([])
    expect(await store.pruneSchedules(NOW + HOUR, 9)).toBe(0)
    expect(await store.pruneSchedules(NOW + HOUR + 1, 9)).toBe(1)
    expect(await store.findSchedule('acme')).toBeNull()
  })

  test('a run that goes on in the place of a tick holds back the next one', async ({ store }) => {
    await store.addSchedule(acme(), NOW)
    const record = (at: number) => store.recordTick('sch_1', { scheduledFor: at, missed: 0 }, at, { overlap: 'queue' })
    await record(NOW + 1)
    const next = await record(NOW + 2)
    const [first] = await store.claimRuns('wrk_1', 9, NOW + 2)
    if (!first) throw new Error('no run')
    // No id of ours has this letter.
    const successor = { run: `${first.lease.runId.slice(0, -1)}u`, account: 'default', input: '{}', received: {} }
    await store.continueRun(first.lease, successor, NOW + 3)
    expect(await store.findRun(next ?? '')).toMatchObject({ status: 'waiting' })
    expect(await store.findRun(successor.run)).toMatchObject({ status: 'pending', tickAt: NOW + 1 })
  })

  test('a schedule of code is in the commit of its step, and changes only what code made', async ({ store }) => {
    await queueRun(store)
    const run = await claimNext(store)
    const save = (key: string, change: Partial<NewSchedule>) =>
      store.saveCheckpoint(run.lease, checkpoint(key, { kind: 'schedule', status: 'completed' }), undefined, {
        schedule: { ...acme({ owner: 'code', madeBy: run.lease.runId, ...change }), madeAt: NOW },
      })
    await save('a', {})
    await save('b', { id: 'sch_9', input: '{"folder":"/b"}' })
    expect(await store.listSchedules({ limit: 9 })).toMatchObject([{ id: 'sch_1', input: '{"folder":"/b"}' }])
    await store.addSchedule(acme({ id: 'sch_2', name: 'mine' }), NOW)
    await expect(save('c', { name: 'mine' })).rejects.toMatchObject({ code: 'conflict' })
    expect((await store.listSteps(run.lease.runId)).map(({ key }) => key)).toEqual(['a', 'b'])
    for (const unschedule of ['acme', 'mine', 'nobody']) {
      const step = checkpoint(`no ${unschedule}`, { kind: 'schedule', status: 'completed' })
      await store.saveCheckpoint(run.lease, step, undefined, { unschedule })
    }
    expect(await store.listSchedules({ limit: 9 })).toMatchObject([{ name: 'mine' }])
  })

  test('a later event is sent once at its moment, with the routes of then', async ({ store }) => {
    const event = {
      id: 'evt_later',
      type: 'order.late',
      account: 'default',
      createdAt: NOW + HOUR,
      body: '{"data":{}}',
    }
    const input = JSON.stringify(event)
    await store.addSchedule(acme({ name: event.id, workflow: null, plan: planOnce(NOW + HOUR), input }), NOW)
    const workflows = [{ id: 'late', file: 'late.ts', eventTypes: ['order.late'], schedule: null }]
    await store.saveWorkflows({ workflows, broken: [] }, NOW)
    const [due] = await store.listDueSchedules(NOW + HOUR, { limit: 1 })
    // The app was off at the event's own moment.
    const sentAt = NOW + 3 * HOUR
    const send = () => store.sendScheduled('sch_1', due?.version ?? -1, sentAt)
    expect([await send(), await send()]).toEqual([true, false])
    const saved = { id: 'evt_later', type: 'order.late', createdAt: NOW + HOUR, receivedAt: sentAt }
    expect(await store.listEvents({ limit: 9 })).toMatchObject([saved])
    const run = { workflow: 'late', eventId: 'evt_later', createdAt: sentAt }
    expect(await store.listRuns({ limit: 9 })).toMatchObject([run])
    expect(await store.findSchedule('evt_later')).toMatchObject({ doneAt: sentAt, nextAt: null })
  })

  test('lines of modules are not edited or removed', async ({ store }) => {
    await saveLine(store, 'nightly', NOW)
    const line = acme({ id: 'nightly' })
    await expect(store.editSchedule(line, NOW)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.removeSchedule(line)).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.tallyMissed()).toEqual([])
    await store.noteMissed('nightly', 3, NOW)
    expect(await store.tallyMissed()).toEqual([{ workflow: 'nightly', missed: 3 }])
  })
})
