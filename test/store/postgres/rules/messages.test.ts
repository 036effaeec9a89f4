import type pg from 'pg'
import { expect, test, vi } from 'vitest'
import type { Lease } from '../../../../src/core/runs/lease.ts'
import type { PruneKind } from '../../../../src/core/store/retention.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { arrive, askAdmission, concurrency } from '../../../contract/support/ask-admission.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW } from '../../../support/fixtures.ts'
import { openTwo } from '../support/open-two.ts'
import { type Sent, spyQueries } from '../support/spy-queries.ts'

/** A run that passed a gate, and was claimed again after that. */
async function claimLimited(store: Store): Promise<Lease> {
  await store.saveDelivery(incoming('evt_limited'))
  await askAdmission(store, await claimNext(store), { gates: [concurrency], mayStart: false })
  return (await claimNext(store)).lease
}

/** The statements of pooled sessions: all but those of the one that listens, as `all` shows. */
function pooled(sent: readonly Sent[], all = sent): Sent[] {
  const direct = all.filter(({ text }) => /LISTEN|pg_notify/.test(text)).map(({ client }) => client)
  return sent.filter(({ client, text }) => !direct.includes(client) && !text.includes('pg_is_in_recovery'))
}

const READS = /^SELECT (found|\w+ FROM)/

test('each call that others wait for is one message, without a transaction around it', async () => {
  // From the beginning on: the session that listens sets itself up at some moment.
  const sent = spyQueries()
  const { one } = await openTwo()
  await one.saveDelivery(incoming('evt_1'))
  const { lease } = await claimNext(one)
  const limited = await claimLimited(one)
  const first = sent.length
  // Which session listens is known once it has: all is counted at the end.
  const count = async (call: () => Promise<unknown>) => {
    const before = sent.length
    await call()
    const all = sent.slice(before)
    return () => pooled(all, sent).filter(({ text }) => !READS.test(text)).length
  }
  const counts = {
    deliveries: await count(() => Promise.all(['evt_2', 'evt_3'].map((id) => one.saveDelivery(incoming(id))))),
    claim: await count(() => one.claimRuns('wrk_1', 9, NOW)),
    steps: await count(() => Promise.all(['a', 'b'].map((key) => one.saveCheckpoint(lease, checkpoint(key))))),
    end: await count(() => one.completeRun(lease, 'null', NOW)),
    limitedEnd: await count(() => one.completeRun(limited, 'null', NOW)),
  }
  await vi.waitUntil(() => sent.some(({ text }) => text.includes('pg_notify')))
  const asked = Object.fromEntries(Object.entries(counts).map(([name, number]) => [name, number()]))
  expect(asked).toEqual({ deliveries: 1, claim: 1, steps: 1, end: 1, limitedEnd: 1 })
  expect(sent.slice(first).filter(({ text }) => /BEGIN|COMMIT/.test(text))).toEqual([])
})

/** Of files, those that are gone go first. */
const FIRST_REPORT = '["","","","",""]'
const RUNS = 500
/** Ended runs of three steps each, and as many deliveries and bodies. */
const FILL_OLD = `
  INSERT INTO run (id, workflow, created_at) SELECT 'run_00z' || n, 'w', 1 FROM generate_series(1, ${RUNS}) AS n;
  INSERT INTO outcome (run_id, workflow, status, rank, fence, attempt, finished_at)
    SELECT id, 'w', 'completed', 0, 1, 1, 1 FROM run;
  INSERT INTO step (run_id, key, position, kind, effect, status, attempt, started_at, finished_at)
    SELECT id, 'step-' || k, k, 'run', 'read', 'completed', 1, 1, 1 FROM run, generate_series(1, 3) AS k;
  INSERT INTO delivery (id, endpoint_id, received_at, verdict, body_bytes, facts)
    SELECT 'dlv_00z' || n, 'end_test', 1, 'stale', 1, '{}' FROM generate_series(1, ${RUNS}) AS n;
  INSERT INTO event_body SELECT n, n, '{}' FROM generate_series(1, ${RUNS}) AS n;
  INSERT INTO sweep (account, storage, state, version)
    VALUES ('default', 'storage_a', '{"number":0,"baseline":1,"complete":[]}', 1);
  INSERT INTO known_file (sweep, file, path, first_sweep, first_seen_at, last_sweep)
    SELECT sweep.id, 'fil_' || n, '/a', 1, 1, 1 FROM sweep, generate_series(1, ${RUNS}) AS n;
  INSERT INTO file_event SELECT 'default', 'storage_a', file, 'file.created', 'evt_1', 1 FROM known_file;`

test('a prune sends as many messages for hundreds of rows as for one: each waits for the network', async () => {
  const { one, session } = await openTwo()
  await session.query(FILL_OLD)
  const sent = spyQueries()
  const prune = async (kind: PruneKind, limit: number, after: string | null = null) => {
    const before = sent.length
    const { pruned } = await one.prune({ kind, before: NOW, limit, after })
    return { pruned, sent: sent.slice(before) }
  }
  const slices = {
    runs: await prune('runs', 5 * RUNS),
    refusals: await prune('refusals', 2 * RUNS),
    payloads: await prune('payloads', 2 * RUNS),
    files: await prune('files', 2 * RUNS, FIRST_REPORT),
  }
  await vi.waitUntil(() => sent.some(({ text }) => /LISTEN|pg_notify/.test(text)))
  for (const [kind, { pruned, sent: own }] of Object.entries(slices)) {
    expect(pruned, kind).toBe(RUNS)
    const texts = pooled(own, sent).map(({ text }) => text.slice(0, 60))
    expect(texts, `${kind}:\n${texts.join('\n')}`).toSatisfy(({ length }) => length < 20)
  }
  const { rows } = await session.query(`SELECT run_id FROM step UNION ALL SELECT run_id FROM pruned_run
    UNION ALL SELECT file FROM file_event UNION ALL SELECT file FROM known_file WHERE judged <> 8`)
  expect(rows).toEqual([])
})

test('the events of a batch, and the deletes of their files, are read in as few messages as one', async () => {
  const { one } = await openTwo()
  const fold = { kind: 'batch', key: 'a', size: 99, waitMs: 100 } as const
  const leader = await arrive(one, 'evt_0')
  await askAdmission(one, leader, { fold })
  for (let n = 1; n < 30; n++) await askAdmission(one, await arrive(one, `evt_${n}`), { fold })
  const sent = spyQueries()
  expect(await one.listRunEvents(leader.lease.runId)).toHaveLength(30)
  const targets = Array.from({ length: 30 }, (_, n) => `storage_a:fil_${n}`)
  expect(await one.listDeletes('default', targets)).toEqual([])
  await vi.waitUntil(() => sent.some(({ text }) => /LISTEN|pg_notify/.test(text)))
  expect(pooled(sent).length).toBeLessThan(8)
})

/** One of each kind of write: calls, transactions, gates, workers. */
async function writeAll(store: Store): Promise<void> {
  await store.startWorker('wrk_1', NOW)
  await store.saveDelivery(incoming('evt_1'))
  const { lease } = await claimNext(store)
  await store.saveCheckpoint(lease, checkpoint('a'))
  await store.parkRun(lease, { dueAt: NOW, reason: 'sleeps' })
  await store.completeRun(await claimLimited(store), 'null', NOW)
  await store.saveLimit('key', '{}', 0)
  await store.cancelRun(lease.runId, 'by hand', NOW)
  await store.beatWorker('wrk_1', NOW)
}

/** All but the beats of workers, which nobody waits for. */
const WRITES = /BEGIN|INSERT|DELETE|UPDATE (?!worker)|(save|claim|end)_\w+_\d/

test('no commit that carries data notifies: a session of its own does, for many writes at once', async () => {
  const { one, session } = await openTwo()
  const sent = spyQueries()
  const heard = new Promise<void>((resolve) => session.once('notification', () => resolve()))
  const { rows } = await session.query<{ schema: string }>('SELECT current_schema() AS schema')
  await session.query(`LISTEN "upshot ${rows[0]?.schema}"`)
  await writeAll(one)
  await heard
  const notifying = sent.filter(({ text }) => /notify/i.test(text))
  const clients = new Set(notifying.map(({ client }) => client))
  const writes = sent.filter(({ client, text }) => clients.has(client) && WRITES.test(text))
  expect([clients.size, writes.map(({ text }) => text)]).toEqual([1, []])
  // Neither does a function of ours, nor a trigger.
  const { rowCount } = await session.query(
    `SELECT 1 FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND prosrc ~* 'notify'`,
  )
  expect(rowCount).toBe(0)
  const triggers = await session.query(
    `SELECT 1 FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
     WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal`,
  )
  expect(triggers.rowCount).toBe(0)
})

test('nothing lives in a pooled session: no name, setting, channel or lock outlasts a transaction', async () => {
  const { one, session } = await openTwo()
  const sent = spyQueries()
  await writeAll(one)
  const own = pooled(sent).filter(({ client }) => client !== session)
  expect(own.length).toBeGreaterThan(9)
  expect(own.filter(({ name }) => name !== undefined)).toEqual([])
  const lasting =
    /^\s*(SET(?! LOCAL)|LISTEN|PREPARE|DECLARE)|CREATE TEMP|pg_(try_)?advisory_lock|set_config\(.*false\)/i
  expect(own.filter(({ text }) => lasting.test(text)).map(({ text }) => text)).toEqual([])
  const sessions = new Set(own.map(({ client }) => (client as pg.Client & { processID: number }).processID))
  // Another task of the store may be within a transaction, whose locks end with it.
  await vi.waitUntil(async () => {
    const held = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = ANY ($1)`
    return (await session.query(held, [[...sessions]])).rowCount === 0
  })
})
