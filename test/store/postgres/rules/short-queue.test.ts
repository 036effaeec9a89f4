import type pg from 'pg'
import { expect, test } from 'vitest'
import { UNADMITTED_PRIORITY } from '../../../../src/core/runs/admission.ts'
import type { ClaimedRun } from '../../../../src/core/runs/claim.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { askAdmission, concurrency, throttle } from '../../../contract/support/ask-admission.ts'
import { addEvent, match, PARK, WAIT, WAITING } from '../../../contract/support/waiting-runs.ts'
import { checkpoint, incoming, NOW } from '../../../support/fixtures.ts'
import { makeSchema } from '../../../support/postgres-store.ts'
import { countRowsRead } from '../support/count-rows-read.ts'
import { openTwo } from '../support/open-two.ts'

const MANY = 3_000
const GATES = [{ ...concurrency, most: 2 }]
/** Ids of runs before and behind those that are made now. */
const [EARLY, LATE] = [`'run_00' || n`, `'run_zz' || n`]

/** Older runs of each status, and a line behind those of the test; its gate has one place left. */
const FILL = `
  INSERT INTO run (id, workflow, input, account, created_at) SELECT ${EARLY}, 'other', '1', 'default', 1 FROM n
    UNION ALL SELECT ${LATE}, 'follow-up', '1', 'default', 1 FROM n;
  INSERT INTO work (run_id, workflow, status, due_at, awaits, worker, claim, gate_state)
    SELECT ${EARLY}, CASE n WHEN 60 THEN 'follow-up' ELSE 'other' END,
      CASE WHEN n % 60 = 0 THEN 'running' WHEN n % 3 = 2 THEN 'waiting' ELSE 'pending' END,
      CASE WHEN n % 3 = 2 THEN ${2 * NOW} END, (n % 3 = 2)::int, CASE WHEN n % 60 = 0 THEN 'wrk_2' END, n,
      CASE n WHEN 60 THEN 'admitted' END FROM n;
  INSERT INTO work (run_id, workflow, status, gate_state, gates)
    SELECT ${LATE}, 'follow-up', 'waiting', 'in_line', '${JSON.stringify(GATES)}' FROM n;
  INSERT INTO gate_slot (workflow, gate, key, is_held, rank, run_id, survives_sleep)
    SELECT 'follow-up', 'concurrency-1', 'a', (n = 60)::int, 0, CASE n WHEN 60 THEN ${EARLY} ELSE ${LATE} END, 0 FROM n;
  INSERT INTO wait (run_id, key, type, name, stream, account, value, since_seq)
    SELECT ${EARLY}, 'm', 'file.moved', 'file', 0, 'default', 'of_' || n, 1 FROM n WHERE n % 3 = 2;
  INSERT INTO wait (run_id, key, child_run) SELECT ${EARLY}, 'c', 'run_00' || n - 1 FROM n WHERE n % 3 = 2`

/** The work of some runs, from their deliveries to their ends. */
async function play(store: Store, name: string): Promise<void> {
  const event = (n: number | string) => `evt_${name}_${n}`
  const arrive = async (count: number, workflow = 'follow-up'): Promise<ClaimedRun[]> => {
    const part = { workflows: [workflow], priorities: { [workflow]: UNADMITTED_PRIORITY } }
    const ids = Array.from({ length: count }, (_, n) => event(`${workflow}_${n}`))
    await Promise.all(ids.map((id) => store.saveDelivery(incoming(id, part))))
    return store.claimRuns('wrk_1', count, NOW)
  }
  const [one, two, three, four, five, six, seven] = await arrive(7)
  if (!one || !two || !three || !four || !five || !six || !seven) throw new Error('too few runs to claim')
  await askAdmission(store, one, { gates: GATES })
  await Promise.all([two, three, four].map((run) => askAdmission(store, run, { gates: GATES })))
  const end = (run: ClaimedRun) =>
    Promise.all([
      store.saveCheckpoint(run.lease, checkpoint('a')),
      store.completeRun(run.lease, 'null', NOW, true),
    ]).then(([, next]) => next)
  const next = await end(one)
  const last = next && (await end(next))
  if (!last) throw new Error('the slot was not handed on')
  await store.failRun(last.lease, { name: 'Error', message: 'no luck' }, NOW)
  for (const run of await store.claimRuns('wrk_1', 1, NOW)) await store.skipRun(run.lease, 'no', NOW)
  const send = { id: event('sent'), type: 'x', account: 'default', createdAt: NOW, body: '{}', workflows: ['w1'] }
  const invoke = { run: `run_${name}`, workflow: 'w1', account: 'default', input: '1', createdAt: NOW }
  const asked = checkpoint('i', { kind: 'invoke', status: 'waiting' })
  await store.saveCheckpoint(five.lease, checkpoint('s', { kind: 'send', target: 'x' }), undefined, { send })
  await store.saveCheckpoint(five.lease, asked, undefined, { invoke })
  await store.parkRun(five.lease, { ...PARK, awaits: ['i'] })
  await store.saveCheckpoint(six.lease, WAITING, undefined, { wait: WAIT })
  await store.parkRun(six.lease, PARK)
  await match(store, { [await addEvent(store, event('moved'))]: 'fil_1' })
  await store.saveCheckpoint(seven.lease, asked, undefined, { invoke: { ...invoke, run: `run_${name}_canceled` } })
  await store.releaseRun(seven.lease)
  await store.cancelRun(seven.lease.runId, 'by hand', NOW)
  await store.retryRun(seven.lease.runId, NOW)
  for (const run of await store.claimRuns('wrk_1', 9, NOW)) await store.completeRun(run.lease, 'null', NOW)
  await store.recordTick('tick', { scheduledFor: NOW + name.length, missed: 0 }, NOW, { overlap: 'queue' })
  for (const run of await store.claimRuns('wrk_1', 1, NOW)) await store.completeRun(run.lease, 'null', NOW)
  const [slow] = await arrive(1, 'throttled')
  if (slow) await askAdmission(store, slow, { gates: [throttle] })
  await store.listLeases('wrk_1')
  await store.nextDueAt()
  await store.listEndedWaits(five.lease.runId)
  await store.claimUnadmittedRuns('wrk_1', 5, NOW)
  await store.startWorker('wrk_2', NOW)
  await store.recoverRuns(NOW, 1_000)
}

/** Rows of the queue are deleted one by one, so that its pages stay. */
async function emptyQueue(session: pg.Client): Promise<void> {
  for (const table of ['work', 'gate_slot', 'wait']) await session.query(`DELETE FROM ${table}`)
}

test.each([
  ['without statistics', async () => {}],
  [
    'with statistics of an empty one',
    async (session: pg.Client, store: Store) => {
      await play(store, 'before')
      await emptyQueue(session)
      for (const table of ['work', 'gate_slot', 'wait', 'run', 'step']) await session.query(`VACUUM ANALYZE ${table}`)
    },
  ],
])('calls that were planned over a short queue read few rows of a long one, %s', async (_when, prepare) => {
  const { one, session } = await openTwo(makeSchema())
  for (const table of ['work', 'gate_slot', 'wait']) {
    await session.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)
  }
  await one.startWorker('wrk_1', NOW)
  await prepare(session, one)
  const counts = countRowsRead()
  await play(one, 'short')
  await emptyQueue(session)
  await session.query(FILL.replaceAll('FROM n', `FROM generate_series(1, ${MANY}) AS n`))
  counts.length = 0
  await play(one, 'long')
  const wide = counts.filter(({ rows }) => Object.values(rows).some((read) => read > MANY / 10))
  expect(wide.map(({ text, rows }) => `${JSON.stringify(rows)} ${text.replace(/\s+/g, ' ').slice(0, 60)}`)).toEqual([])
  expect(counts.length).toBeGreaterThan(30)
})
