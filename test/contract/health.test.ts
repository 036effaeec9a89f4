import { expect, vi } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { BrokenModule } from '../../src/core/runs/workflow-record.ts'
import { listBrokenModules, PROCESS_SILENCE_MS } from '../../src/core/store/process-record.ts'
import type { Store } from '../../src/core/store/store.ts'
import { ManualClock } from '../../src/core/time.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'

describeStores((test, open) => {
  test('the clock of the database is told where it is not that of the machine', async ({ store }) => {
    const before = Date.now()
    const moment = (await store.readClock()) ?? before
    expect(moment).toBeGreaterThanOrEqual(before - 1)
    expect(moment).toBeLessThanOrEqual(Date.now() + 1)
  })

  test('a store that can be written and is migrated says so', async ({ store }) => {
    expect(await store.checkWritable(NOW)).toEqual({ isMigrated: true })
  })

  test('a row of a process names the modules that it could not load, as its newest beat tells', async ({ store }) => {
    const about = { role: 'worker', pid: 7, version: '1', adminUrl: '', receiverUrl: '', startedAt: NOW }
    const beat = (id: string, seenAt: number, broken: readonly BrokenModule[]) =>
      store.beatProcess({ ...about, id, seenAt, broken })
    const stuck = { file: 'stuck.workflow.ts', reason: 'it loops' }
    await beat('one', NOW, [])
    await beat('one', NOW + 1, [stuck])
    await beat('two', NOW + 1, [stuck])
    await beat('silent', NOW - PROCESS_SILENCE_MS, [{ file: 'gone.workflow.ts', reason: 'it exits' }])
    expect(await listBrokenModules(store, NOW + 1)).toEqual([{ ...stuck, pids: [7, 7] }])
    await beat('one', NOW + 2, [])
    await store.removeProcess('two')
    expect(await listBrokenModules(store, NOW + 2)).toEqual([])
  })

  test('a watch calls after writes of this process and of others, and only after writes', async ({ store, reopen }) => {
    const other = await reopen()
    const clock = new ManualClock()
    let changes = 0
    const watch = store.watch(clock, () => void changes++)
    const look = async () => {
      clock.advance(50)
      await new Promise(setImmediate)
      return changes
    }
    // A hint may be lost, so that the write is repeated until one is heard.
    const hears = async (writer: Store) => {
      const before = await look()
      await vi.waitFor(async () => {
        await queueRun(writer, newId('evt', NOW))
        expect(await look()).toBeGreaterThan(before)
      }, 30_000)
    }
    const before = await look()
    expect(await look()).toBe(before)
    await hears(other)
    await hears(store)
    watch.stop()
    const heard = changes
    await queueRun(other, 'evt_3')
    expect(await look()).toBe(heard)
  })

  test('open runs are counted by what they wait for, with the age of the oldest pending one', async ({ store }) => {
    const nothing = { pending: 0, running: 0, waiting: 0, forPerson: 0, openFailures: 0, oldestPendingAt: null }
    expect(await store.countOpenRuns(NOW)).toEqual(nothing)
    for (const event of ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5', 'evt_6']) await queueRun(store, event)
    await store.startWorker('wrk_1', NOW)
    const [timed, stuck, awaiting, failing] = await store.claimRuns('wrk_1', 5, NOW)
    if (!timed || !stuck || !awaiting || !failing) throw new Error('they were queued')
    await store.parkRun(timed.lease, { dueAt: NOW + 1_000, reason: 'sleep' })
    await store.parkRun(stuck.lease, { dueAt: null, reason: 'code changed' })
    await store.parkRun(awaiting.lease, { dueAt: null, reason: 'waits for it', awaits: ['it'] })
    await store.failRun(failing.lease, { name: 'Error', message: 'no' }, NOW)
    expect(await store.countOpenRuns(NOW)).toEqual({
      pending: 1,
      running: 1,
      waiting: 3,
      forPerson: 1,
      openFailures: 1,
      oldestPendingAt: expect.any(Number),
    })
    expect(await store.tallyForPerson()).toEqual([{ workflow: 'follow-up', runs: 1 }])
  })

  test('a failure is open until its kind is resolved or snoozed, or its run is retried', async ({ store }) => {
    const fail = async (event: string, message: string, at: number) => {
      const run = await queueRun(store, event)
      await store.failRun((await claimNext(store)).lease, { name: 'Error', message, step: 'copy' }, at)
      return run
    }
    const openAt = async (now: number) => (await store.countOpenRuns(now)).openFailures
    const first = await fail('evt_1', 'the disk is full', NOW + 1)
    await fail('evt_2', 'the disk is full', NOW + 2)
    await fail('evt_3', 'no such door', NOW + 3)
    expect(await openAt(NOW + 10)).toBe(3)
    const part = await store.groupFailures({}, { rows: 10, limit: 10, after: null })
    const kindOf = (message: string) => part.items.find((group) => group.message === message)?.id ?? ''
    const verdict = { note: null, by: 'cli:ada', at: NOW + 5 }
    await store.saveFailureState({ ...verdict, group: kindOf('the disk is full'), kind: 'resolved', until: null })
    expect(await openAt(NOW + 10)).toBe(1)
    await store.saveFailureState({ ...verdict, group: kindOf('no such door'), kind: 'snoozed', until: NOW + 20 })
    expect([await openAt(NOW + 19), await openAt(NOW + 20)]).toEqual([0, 1])
    await fail('evt_4', 'the disk is full', NOW + 6)
    expect(await openAt(NOW + 20)).toBe(2)
    await store.retryRun(first, NOW + 7)
    const { lease } = await claimNext(store)
    await store.failRun(lease, { name: 'Error', message: 'the disk is full', step: 'copy' }, NOW + 8)
    expect(await openAt(NOW + 20)).toBe(3)
    await store.retryRun(first, NOW + 9)
    expect(await openAt(NOW + 20)).toBe(2)
  })

  test('a failed run that a person resolves needs nobody, until it is retried or that is taken back', async () => {
    const { store } = await open()
    const fail = async (at: number) => {
      await store.failRun((await claimNext(store)).lease, { name: 'Error', message: 'no', step: 'copy' }, at)
    }
    const [first, second] = [await queueRun(store, 'evt_1'), await queueRun(store, 'evt_2')]
    await fail(NOW + 1)
    await fail(NOW + 2)
    const resolution = { by: 'cli:ada', at: NOW + 3, reason: 'copied by hand' }
    const lookAt = async () => {
      const { items } = await store.groupFailures({}, { rows: 10, limit: 10, after: null })
      const ended = await store.listEndedFailures({ after: { at: NOW, run: '' }, until: NOW + 100, limit: 10 })
      const left = await store.listRuns({ resolved: false, limit: 10 })
      const { openFailures } = await store.countOpenRuns(NOW + 50)
      const { failed } = await store.countRuns(0)
      const counts = [openFailures, failed, ended.length, left.length]
      return { counts, groups: items.map(({ runs, resolved }) => [runs, resolved]) }
    }
    expect(await lookAt()).toEqual({ counts: [2, 2, 2, 2], groups: [[2, 0]] })
    expect(await store.resolveRun(first, resolution)).toBe(true)
    expect(await store.resolveRun(first, { ...resolution, by: 'cli:ben' })).toBe(false)
    expect(await store.findRun(first)).toMatchObject({ status: 'failed', resolution })
    expect(await lookAt()).toEqual({ counts: [1, 1, 1, 1], groups: [[2, 1]] })
    expect(await store.resolveRun(second, resolution)).toBe(true)
    expect(await lookAt()).toEqual({ counts: [0, 0, 0, 0], groups: [[2, 2]] })
    expect([await store.unresolveRun(second), await store.unresolveRun(second)]).toEqual([true, false])
    expect(await lookAt()).toEqual({ counts: [1, 1, 1, 1], groups: [[2, 1]] })
    await store.retryRun(first, NOW + 5)
    expect(await store.findRun(first)).toMatchObject({ status: 'pending', resolution: null })
    expect(await store.resolveRun(first, resolution)).toBe(false)
    await fail(NOW + 6)
    expect(await lookAt()).toEqual({ counts: [2, 2, 2, 2], groups: [[2, 0]] })
  })

  test('failures are searched by whether a person resolved them, and a kind without open ones is settled', async () => {
    const { store } = await open()
    const fail = async (event: string, at: number, step: string) => {
      const run = await queueRun(store, event)
      const { lease } = await claimNext(store)
      await store.failRun(lease, { name: 'Error', message: 'no', step }, at)
      return run
    }
    const [copied, other, moved] = [
      await fail('evt_1', NOW + 1, 'copy'),
      await fail('evt_2', NOW + 2, 'copy'),
      await fail('evt_3', NOW + 3, 'move'),
    ]
    const running = await queueRun(store, 'evt_4')
    const search = async (resolved: boolean, workflow?: string) => {
      const filter = { resolved, ...(workflow === undefined ? {} : { workflow }) }
      const { items } = await store.searchRuns(filter, { rows: 10, limit: 10, after: null })
      return items.map(({ id }) => id)
    }
    const groups = (await store.groupFailures({}, { rows: 10, limit: 10, after: null })).items
    const idOf = (step: string) => groups.find((group) => group.step === step)?.id ?? ''
    const settled = async (since: number) => {
      const kinds = ['copy', 'move'].map((step) => ({ id: idOf(step), since }))
      return (await store.listSettledFailures(kinds)).map((id) => groups.find((group) => group.id === id)?.step)
    }
    const resolve = (run: string, at: number) => store.resolveRun(run, { by: 'cli:ada', at, reason: 'by\0hand' })
    expect([await search(true), await search(false)]).toEqual([[], [moved, other, copied]])
    expect(await settled(NOW)).toEqual([])
    await resolve(copied, NOW + 10)
    expect([await search(true), await search(false)]).toEqual([[copied], [moved, other]])
    expect([await search(true, 'follow-up'), await search(true, 'gone')]).toEqual([[copied], []])
    expect(await settled(NOW)).toEqual([])
    await resolve(other, NOW + 11)
    expect([await settled(NOW), await settled(NOW + 12)]).toEqual([['copy'], []])
    await store.retryRun(moved, NOW + 12)
    expect(await settled(NOW)).toEqual(['copy'])
    await store.unresolveRun(other)
    expect(await settled(NOW)).toEqual([])
    const state = {
      group: idOf('copy'),
      kind: 'resolved',
      note: null,
      by: 'cli:ada',
      at: NOW + 13,
      until: null,
    } as const
    await store.saveFailureState(state)
    expect([await settled(NOW), await settled(NOW + 14)]).toEqual([['copy'], []])
    expect(await search(false)).not.toContain(running)
    const some = await store.listRuns({ statuses: ['failed', 'running'], limit: 10 })
    expect(some.map(({ id }) => id)).toEqual([other, copied])
  })

  test('a run of a paused workflow waits for no person', async ({ store }) => {
    await queueRun(store, 'evt_1', 'verify')
    await store.pauseWorkflow('verify', NOW)
    await store.holdRuns('verify', 10)
    expect(await store.countOpenRuns(NOW)).toMatchObject({ pending: 0, waiting: 1, forPerson: 0 })
  })
})
