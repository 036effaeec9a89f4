import { expect } from 'vitest'
import { KEEP_ALL } from '../../src/core/store/retention.ts'
import { ManualClock, systemClock } from '../../src/core/time.ts'
import { foreseePrune, pruneStore } from '../../src/schedule/pruner.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { addEvent, claimLease, match, PARK, readNewest, WAIT, WAITING, waitingRun } from './support/waiting-runs.ts'

describeStores((test) => {
  test('a batch of matches that another process saved first changes nothing', async ({ store, reopen }) => {
    await waitingRun(store)
    const seq = await addEvent(store, 'evt_fits')
    const { cursors } = await store.listMatchCursors()
    const [cursor] = cursors
    if (!cursor) throw new Error('it is watched')
    const keys = [{ cursor: cursor.id, seq, account: 'default', value: 'fil_1', event: 'evt_fits' }]
    const batch = { cursors: [cursor], stream: cursor.stream, from: cursor.position, to: seq, keys }
    const results = await Promise.all([store.saveMatches(batch, NOW), (await reopen()).saveMatches(batch, NOW)])
    expect(results.map(({ resolved }) => resolved).sort()).toEqual([0, 1])
    expect((await store.listMatchCursors()).cursors).toMatchObject([{ position: seq }])
  })

  test('a body stays for as long as a run waits and no worker has looked at its event', async ({ store }) => {
    const prune = () => {
      const retention = { ...KEEP_ALL, payloads: 1_000 }
      return pruneStore({ store, clock: systemClock, retention, from: Date.now() + 60_000 })
    }
    await waitingRun(store)
    const seq = await addEvent(store, 'evt_fits')
    await addEvent(store, 'evt_other')
    const forecast = { store, clock: new ManualClock(Date.now() + 60_000), retention: { ...KEEP_ALL, payloads: 1_000 } }
    expect((await foreseePrune(forecast)).payloads?.rows).toBe(0)
    await prune()
    const bodies = async () => (await store.listEvents({ limit: 2 })).map(({ body }) => body !== '')
    expect(await bodies()).toEqual([true, true])
    await match(store, { [seq]: 'fil_1' })
    expect(await store.findUnmatchedSince()).toBeNull()
    await prune()
    expect(await bodies()).toContain(false)
  })

  test('a batch that began before a cursor was set back skips no event', async ({ store }) => {
    const older = await claimLease(store, 'evt_older')
    const early = await addEvent(store, 'evt_early')
    await waitingRun(store, { value: 'something else' })
    const late = await addEvent(store, 'evt_late')
    const [cursor] = (await store.listMatchCursors()).cursors
    if (!cursor) throw new Error('it is watched')
    await store.saveCheckpoint(older, WAITING, undefined, { wait: { ...WAIT, since: 'run' } })
    const keys = [{ cursor: cursor.id, seq: late, account: 'default', value: 'fil_1', event: 'evt_late' }]
    await store.saveMatches({ cursors: [cursor], stream: cursor.stream, from: cursor.position, to: late, keys }, NOW)
    expect(await store.findMatch(older.runId, 'moved')).toBeNull()
    await match(store, { [early]: 'fil_1', [late]: 'fil_1' })
    expect(await store.findMatch(older.runId, 'moved')).toMatchObject({ id: 'evt_early' })
  })

  test('a cursor skips events that came while no run waited', async ({ store }) => {
    const lease = await waitingRun(store)
    await store.cancelRun(lease.runId, 'by hand', NOW)
    for (let n = 0; n < 5; n++) await addEvent(store, `evt_idle${n}`)
    expect((await store.listMatchCursors()).cursors).toMatchObject([{ isOpen: false }])
    await waitingRun(store)
    const { cursors } = await store.listMatchCursors()
    expect(cursors).toMatchObject([{ isOpen: true, position: await readNewest(store) }])
  })

  test('a cursor that was unused for a day, and of which a part is gone, begins anew for an older wait', async ({
    store,
  }) => {
    const unused = await waitingRun(store)
    const older = await claimLease(store, 'evt_older')
    const early = await addEvent(store, 'evt_early')
    const [cursor] = (await store.listMatchCursors()).cursors
    if (!cursor) throw new Error('it is watched')
    // More keys than one commit deletes, of events that are not needed.
    const key = { cursor: cursor.id, account: 'default', value: 'fil_1', event: 'evt_x' }
    const keys = Array.from({ length: 2_001 }, (_, n) => ({ ...key, seq: early + 8 * n }))
    const [from, to] = [cursor.position, early + 8 * 3_000]
    await store.saveMatches({ cursors: [cursor], stream: cursor.stream, from, to, keys }, NOW)
    await store.cancelRun(unused.runId, 'by hand', NOW)
    await waitingRun(store, { type: 'file.deleted' })
    const moved = (await store.listMatchCursors()).cursors.find(({ type }) => type === 'file.deleted')
    if (!moved) throw new Error('it is watched')
    const { position, stream } = moved
    await store.saveMatches({ cursors: [moved], stream, from: position, to: position + 8, keys: [] }, NOW + 90_000_000)
    await store.saveCheckpoint(older, WAITING, undefined, { wait: { ...WAIT, since: 'run' } })
    const { cursors } = await store.listMatchCursors()
    expect(cursors.find(({ id }) => id === cursor.id)?.position).toBeLessThan(early)
  })

  test('the waits of thousands for one event are resolved in slices', async ({ store }) => {
    const leases = await Promise.all(Array.from({ length: 2_100 }, (_, n) => queueRun(store, `evt_${n}`)))
    const claimed = await store.claimRuns('wrk_1', leases.length, NOW)
    // No pool has a session in time for thousands at once, on a busy machine.
    for (let done = 0; done < claimed.length; done += 100) {
      const some = claimed.slice(done, done + 100)
      await Promise.all(
        some.map(async ({ lease }) => {
          await store.saveCheckpoint(lease, WAITING, undefined, { wait: WAIT })
          await store.parkRun(lease, PARK)
        }),
      )
    }
    const seq = await addEvent(store, 'evt_fits')
    const resolved: number[] = []
    while ((await store.listMatchCursors()).cursors.some(({ isOpen, position }) => isOpen && position < seq)) {
      resolved.push((await match(store, { [seq]: 'fil_1' })).resolved)
    }
    expect(resolved).toEqual([2_000, 100])
  })

  test('a cursor of a new version begins where the oldest wait does', async ({ store }) => {
    await waitingRun(store)
    const from = await readNewest(store)
    await addEvent(store, 'evt_x')
    await store.openMatchCursor({ type: WAIT.type, name: WAIT.name, version: 'v2' }, NOW)
    const { cursors } = await store.listMatchCursors()
    expect(cursors.find(({ version }) => version === 'v2')).toMatchObject({ position: from, isOpen: true })
    await waitingRun(store, { version: 'v3' })
    const third = (await store.listMatchCursors()).cursors.find(({ version }) => version === 'v3')
    expect(third).toMatchObject({ position: from })
  })

  test('a wait for earlier events sets back the cursors of all versions: one may have no process soon', async ({
    store,
  }) => {
    const older = await claimLease(store, 'evt_older')
    const early = await addEvent(store, 'evt_early')
    await waitingRun(store, { version: 'v2', value: 'something else' })
    await store.saveCheckpoint(older, WAITING, undefined, { wait: { ...WAIT, since: 'run' } })
    const { cursors } = await store.listMatchCursors()
    expect(cursors.map(({ version, position }) => [version, position < early])).toEqual([
      ['v2', true],
      ['v1', true],
    ])
  })

  test('a wait is matched to no event by what another version found before, and that looks again', async ({
    store,
  }) => {
    await waitingRun(store, { value: 'something else' })
    const older = await claimLease(store, 'evt_older')
    const early = await addEvent(store, 'evt_early')
    await match(store, { [early]: 'fil_1' })
    await store.saveCheckpoint(older, WAITING, undefined, { wait: { ...WAIT, since: 'run', version: 'v2' } })
    expect(await store.findMatch(older.runId, 'moved')).toBeNull()
    await match(store, { [early]: 'fil_1' })
    expect(await store.findMatch(older.runId, 'moved')).toMatchObject({ id: 'evt_early' })
  })
})
