import { expect, test } from 'vitest'
import type { Store } from '../../../src/core/store/store.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { EventMatcher } from '../../../src/engine/event-matcher.ts'
import { streamOf } from '../../../src/store/postgres/incoming/event-table.ts'
import { addEvent, claimLease, PARK, statusOf, WAIT, WAITING, waitingRun } from '../../contract/support/waiting-runs.ts'
import { eventBody, incoming, NOW } from '../../support/fixtures.ts'
import { awaitBlocked, openTwo } from './support/open-two.ts'

/** A matcher whose code has this version of the one key, and finds `fil_1` in every event. */
function openMatcher(store: Store, version: string): EventMatcher {
  return new EventMatcher({
    store,
    clock: new ManualClock(NOW),
    publish: () => {},
    keys: { version: () => version, reader: () => () => 'fil_1' },
    woken: () => {},
    matched: () => {},
    canceled: () => {},
  })
}

/** An account whose events have another stream than those of the default one. */
const other = ['a', 'b', 'c'].find((account) => streamOf(account) !== streamOf('default')) ?? ''

test('a wait of an older version is matched, also beside one of this version in another stream', async () => {
  const { one } = await openTwo()
  const older = await waitingRun(one, { account: other, version: 'v1' })
  await waitingRun(one, { version: 'v2', value: 'something else' })
  const body = eventBody('evt_fits', 'file.moved', {})
  await one.saveDelivery(incoming('evt_fits', { account: other, workflows: [], body }))
  await openMatcher(one, 'v2').catchUp()
  expect(await statusOf(one, older)).toBe('pending')
})

test('of two runs that wait first at the same time, the older one finds its earlier event', async () => {
  const { one, session } = await openTwo()
  const older = await claimLease(one, 'evt_older')
  await addEvent(one, 'evt_early')
  // Stands for the wait of a newer run in another process.
  await session.query('BEGIN')
  await session.query(
    `INSERT INTO match_cursor (stream, type, name, version, floor_seq, position_seq, used_at)
     SELECT id, $1, $2, $3, seq, seq, $4 FROM stream WHERE id = $5`,
    [WAIT.type, WAIT.name, WAIT.version, NOW, streamOf('default')],
  )
  const waiting = one.saveCheckpoint(older, WAITING, undefined, { wait: { ...WAIT, since: 'run' } })
  await awaitBlocked(session)
  await session.query('COMMIT')
  await waiting
  await one.parkRun(older, PARK)
  await openMatcher(one, WAIT.version).catchUp()
  expect(await statusOf(one, older)).toBe('pending')
})

test('a cursor that was unused for a day stays where a run begins to wait as it would go', async () => {
  const { one, session } = await openTwo()
  const unused = await waitingRun(one)
  await one.cancelRun(unused.runId, 'by hand', NOW)
  await waitingRun(one, { type: 'file.deleted' })
  const [cursor, moved] = (await one.listMatchCursors()).cursors
  if (cursor === undefined || moved === undefined) throw new Error('both are watched')
  await session.query('BEGIN')
  await session.query('SELECT 1 FROM match_cursor WHERE id = $1 FOR UPDATE', [cursor.id])
  const { position: from, stream } = moved
  await one.saveMatches({ cursors: [moved], stream, from, to: from + 8, keys: [] }, NOW + 90_000_000)
  await session.query('COMMIT')
  expect((await one.listMatchCursors()).cursors).toMatchObject([{ id: cursor.id }, { id: moved.id }])
})
