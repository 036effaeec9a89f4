import type pg from 'pg'
import { expect, test, vi } from 'vitest'
import { type Gate, UNADMITTED_PRIORITY } from '../../../src/core/runs/admission.ts'
import type { ClaimedRun } from '../../../src/core/runs/claim.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { askAdmission, concurrency } from '../../contract/support/ask-admission.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW } from '../../support/fixtures.ts'
import { makeSchema } from '../../support/postgres-store.ts'
import { countRowsRead } from './support/count-rows-read.ts'
import { awaitBlocked, openTwo } from './support/open-two.ts'

const SINGLETON: Gate = { name: 'singleton', key: '', most: 1, perMs: null }
const OVERALL: Gate = { name: 'concurrency-2', key: '', most: 3, perMs: null }
const RUNS = 16
/** Any text is a key. */
const KEYS = ['a', 'b"\\', 'ü\n', '']

/** How a run ends: in the one call, or in a transaction that decides with the code of `core`. */
const ENDS = {
  call: (store: Store, { lease }: ClaimedRun) => store.completeRun(lease, 'null', NOW),
  transaction: (store: Store, { lease }: ClaimedRun) => store.skipRun(lease, 'no', NOW),
}

/** Everything about the gates, by the events of the runs. */
async function readGates(session: pg.Client): Promise<unknown[]> {
  const { rows } = await session.query(
    `SELECT event.id, work.status, work.gate_state, work.reason, work.due_at, gate_slot.gate, gate_slot.key,
       gate_slot.is_held, gate_slot.rank, gate_slot.survives_sleep, gate_slot.wake_at
     FROM work JOIN run ON run.id = work.run_id JOIN event ON event.seq = run.event_seq
       LEFT JOIN gate_slot ON gate_slot.run_id = run.id
     ORDER BY event.id, gate_slot.gate`,
  )
  return rows
}

/** Runs through gates by chance; gives all states of the gates, one after each end. */
async function preview(end: (store: Store, run: ClaimedRun) => Promise<unknown>, seed: number): Promise<unknown[]> {
  const { one, session } = await openTwo()
  const random = seededRandom(seed)
  const pick = (most: number) => Math.floor(random() * most)
  const held: ClaimedRun[] = []
  const states: unknown[] = []
  const arriveAndAsk = async (n: number) => {
    const priorities = { 'follow-up': UNADMITTED_PRIORITY }
    await one.saveDelivery(incoming(`evt_${n}`, { receivedAt: NOW + n, priorities }))
    const [run] = await one.claimUnadmittedRuns('wrk_1', 1, NOW)
    if (!run) throw new Error('no run could be claimed')
    const keyed = { ...concurrency, key: KEYS[pick(KEYS.length)] ?? '', most: 2 }
    // Two gates in a line: with three, the call lets all runs into the second before the third.
    const gates = [pick(4) === 0 ? { ...SINGLETON, key: KEYS[pick(2)] ?? '' } : keyed, OVERALL]
    const wakeAt = pick(2) === 0 ? null : NOW + 1_000_000
    const { kind } = await askAdmission(one, run, { gates, priority: pick(3), wakeAt, onConflict: 'queue' })
    if (kind === 'admitted') held.push(run)
  }
  for (let n = 0; n < RUNS; n++) await arriveAndAsk(n)
  while (held.length > 0) {
    const [run] = held.splice(pick(held.length), 1)
    if (run) await end(one, run)
    states.push(await readGates(session))
    held.push(...(await one.claimRuns('wrk_1', 9, NOW)))
  }
  return states
}

test.each([1, 2])('the call lets in whom the transaction lets in, chance %i', async (seed) => {
  const [call, transaction] = [await preview(ENDS.call, seed), await preview(ENDS.transaction, seed)]
  expect(call).toEqual(transaction)
  expect(call).toHaveLength(RUNS)
  expect(JSON.stringify(call)).toContain('concurrency: 3 of 3 runs are at work')
})

test('a limited run ends in one call, with its output and its slots', async () => {
  const { one, session } = await openTwo()
  await one.saveDelivery(incoming('evt_1'))
  const run = await claimNext(one)
  await askAdmission(one, run, { gates: [concurrency], mayStart: false })
  const admitted = await claimNext(one)
  await Promise.all([
    one.saveCheckpoint(admitted.lease, checkpoint('a')),
    one.completeRun(admitted.lease, '"done"', NOW + 5),
  ])
  expect(await one.findRun(run.lease.runId)).toMatchObject({
    status: 'completed',
    output: '"done"',
    finishedAt: NOW + 5,
    isInLine: false,
  })
  expect((await one.listSteps(run.lease.runId)).map(({ key }) => key)).toEqual(['a'])
  expect((await session.query('SELECT FROM gate_slot')).rowCount).toBe(0)
  // The answer was lost, so the call is made again.
  await one.completeRun(admitted.lease, '"done"', NOW + 5)
  await expect(one.completeRun({ ...admitted.lease, fence: 9 }, 'null', NOW)).rejects.toMatchObject({
    code: 'stale_lease',
  })
})

test('an end that hands its slot on, planned over a short queue, reads no more of a long one', async () => {
  const { one, session } = await openTwo(makeSchema())
  const gates = [{ ...concurrency, most: 1 }]
  const head = await admitted(one, 'evt_0', gates)
  for (const event of ['evt_1', 'evt_2']) await admitted(one, event, gates)
  const counts = countRowsRead()
  const readByEnd = (n: number) =>
    vi.waitFor(() => counts.filter(({ text }) => text.includes('save_journal_1'))[n]?.rows.work ?? Promise.reject(n))
  const next = await one.completeRun(head.lease, 'null', NOW, true)
  if (!next) throw new Error('the slot was not handed on')
  const [short, rows] = [await readByEnd(0), 2_000]
  await session.query(
    `INSERT INTO work (run_id, workflow, status)
       SELECT 'run_' || n, 'other', (ARRAY['waiting', 'pending'])[1 + n % 2] FROM generate_series(1, ${rows}) AS n`,
  )
  expect(await one.completeRun(next.lease, 'null', NOW, true)).toBeDefined()
  expect(await readByEnd(1)).toBeLessThan(short + 20)
})

/** A run of an event, admitted to the gates and claimed. */
async function admitted(store: Store, event: string, gates: Gate[]): Promise<ClaimedRun> {
  await store.saveDelivery(incoming(event))
  const run = await claimNext(store)
  await askAdmission(store, run, { gates })
  return run
}

const first = { ...concurrency, key: 'a' }
const second = { ...concurrency, key: 'b' }

test.each([
  ['keys of a gate in their order', [[second], [first]], first, second],
  ['gates in the order of the line', [[SINGLETON, OVERALL]], SINGLETON, OVERALL],
])('ends of one call lock the %s', async (_what, runs, before, after) => {
  const { one, session } = await openTwo()
  const held: ClaimedRun[] = []
  for (const [n, gates] of runs.entries()) held.push(await admitted(one, `evt_${n}`, gates))
  await session.query('BEGIN')
  await session.query(`SELECT lock_gate_1('follow-up', $1, $2)`, [before.name, before.key])
  const ended = Promise.all(held.map(({ lease }) => one.completeRun(lease, 'null', NOW)))
  await awaitBlocked(session)
  // Nobody holds the later lock while it waits for the earlier one: else this were a deadlock.
  await session.query(
    `SET LOCAL lock_timeout = '10ms'; SELECT lock_gate_1('follow-up', '${after.name}', '${after.key}')`,
  )
  await session.query('COMMIT')
  await ended
  expect((await session.query('SELECT FROM gate_slot')).rowCount).toBe(0)
})
