import type pg from 'pg'

/** Rows of each large table. A plan that reads them all is told from one that reads an index. */
export const FILLED_ROWS = 5_000

/** Ids with the length of ours, in the order of their numbers. */
const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 23, '0')`
const [RUN, DELIVERY, APPROVAL] = [id('run'), id('dlv'), id('apr')]

/** Values of the row with the number `n`, by table and its columns. */
const ROWS: Record<string, string> = {
  'event (stream, seq, id, account, type, origin, created_at, received_at)': `0, 8 * n, 'evt_' || n, 'default',
    'file.created', 'webhook', n, n`,
  'event_identity (identity, seq, body_hash)': 'md5(n::text)::uuid, 8 * n, md5(n::text)::uuid',
  'event_body (received_at, seq, body)': `n, 8 * n, '{"a":1}'`,
  'delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)': `${DELIVERY},
    CASE WHEN n < 30 THEN 'end_1' ELSE 'end_0' END, n,
    CASE n % 50 WHEN 0 THEN 'bad_signature' WHEN 1 THEN 'duplicate' ELSE 'accepted' END,
    CASE WHEN n % 50 > 0 THEN 'evt_' || n END, CASE WHEN n % 50 > 0 THEN 8 * n END, 100, '{}'`,
  'run (id, workflow, event_seq, parent_run, input, created_at)': `${RUN}, 'w' || n % 5,
    CASE WHEN n % 20 > 0 THEN 8 * n END, CASE WHEN n % 20 = 0 THEN 'run_' || lpad((n - 1)::text, 23, '0') END,
    CASE WHEN n % 20 = 0 THEN '{}' END, n`,
  'step (run_id, key, position, kind, effect, status, attempt, started_at, target)': `${RUN}, 'a', 0, 'run',
    CASE WHEN n % 9 = 0 THEN 'delete' ELSE 'read' END, 'completed', 1, 1, 'a:' || n`,
  'step_failure (run_id, key, attempt, failed_at, error)': `${RUN}, 'a', 1, 1, '{"name":"Error","message":"no luck"}'`,
  'run_log (run_id, number, at, level, message)': `${RUN}, 1, 1, 'info', 'x'`,
  'run_tag (run_id, name, value)': `${RUN}, CASE WHEN n % 2 = 0 THEN 'customer' ELSE 'region' END, CASE WHEN n % 2 = 0
    THEN 'c' || n % 7 ELSE 'r' || n % 7 END`,
  'run_progress (run_id, done, total, failed, reported_at)': `${RUN}, 1, 2, 0, n`,
  'large_output (run_id, key, packed)': `${RUN}, 'a', '\\x28b52ffd200109000031'`,
  'schedule (id, name, owner, made_by, workflow, plan, created_at, started_at, next_at, done_at)': `'sch_' || n,
    's' || n, 'person', 'ann', 'w' || n % 500, '{}', n, n, CASE WHEN n % 20 > 0 THEN n END,
    CASE WHEN n % 20 = 0 THEN n END`,
  'tick (schedule, scheduled_for, missed, run_id, account)': `'w' || n % 5, n, 0, ${RUN}, 'default'`,
  'event_key (cursor_id, account, value, seq)': `1, 'default', 'v' || n, n`,
  'throttle_start (workflow, key, until, run_id)': `'w1', 'k' || n % 100, n, ${RUN}`,
  'audit (id, at, actor, role, origin, action, target, parameters, outcome)': `${id('aud')}, n, 'ann', 'admin', 'cli',
    'run.retry', ${RUN}, '{}', 'done'`,
  'effect (at, phase, class, operation, account, target, path, workflow, run_id, step, event_seq)': `n, 'done', 'write',
    'put', 'default', 'a:' || n, '/' || n, 'w' || n % 5, ${RUN}, 'a', 8 * n`,
  'approval (id, kind, asked_by, status, workflow, account, why, items, bytes, hash, needs, opened_at, expires_at)': `
    ${APPROVAL}, 'guard', 'h' || n, CASE WHEN n % 1000 = 0 THEN 'open' ELSE 'approved' END, 'w1', 'default', 'x',
    1, 1, 'h', 1, n, n`,
  'approval_item (approval, number, run_id, step, target, bytes, hash, state, fence)': `${APPROVAL}, 1, ${RUN}, 'a',
    'a:' || n, 1, 'h', CASE WHEN n % 1000 = 0 THEN 'open' ELSE 'approved' END, 1`,
  'approval_vote (approval, actor, verdict, hash, at, effect_seq)': `${APPROVAL}, 'ann', 'approved', 'h', n, n`,
  'guard_use (scope, class, width, bucket, count, bytes)': `'run:' || n, 'delete', 0, 0, 1, 1`,
  'known_file (sweep, file, path, first_sweep, last_sweep, first_seen_at)': `1, 'fil_' || n, '/' || n, 1, 1, n`,
  'file_event (account, storage, file, type, event, at)': `'default', 'storage_a', 'fil_' || n, 'file.created',
    'evt_' || n, n`,
  'file_finding (account, storage, file, type, state, sweep, found_at, path, entry)': `'default', 'storage_a',
    'fil_' || n, 'file.created', CASE WHEN n % 1000 = 0 THEN 'due' ELSE 'made' END, 1, n, '/', '{}'`,
  'bulk_refusal (bulk_id, target, why)': `'opr_' || n % 100, 'x', 'y'`,
  'kept_answer (caller, key, request, answer, at)': `'c' || n, 'k', 'r', 'a', n`,
  'pruned_run (run_id)': `'run_x' || n`,
  'run_hour (hour, workflow, status, runs)': `n, 'w1', 'completed', 1`,
  'effect_seal (number, kind, at, key, last, rows, digest, mac)': `n, 'rows', n, 1, n, 1, '\\x00', '\\x00'`,
  'gathering (workflow, key, run_id, since, due_at)': `'w1', 'k' || n, ${RUN}, n, n`,
}

/** The same for rows that only some of the runs have. */
const SOME: [table: string, values: string, which: string][] = [
  [
    'outcome (run_id, workflow, status, rank, fence, attempt, started_at, finished_at, error)',
    `${RUN}, 'w' || n % 5, CASE WHEN n % 40 = 0 THEN 'failed' ELSE 'completed' END, 0, 1, 0, n, n,
      CASE WHEN n % 40 = 0 THEN '{"name":"Error","message":"no luck"}' END`,
    'n % 10 > 0 OR n % 40 = 0',
  ],
  [
    'work (run_id, workflow, status, due_at, worker)',
    `${RUN}, 'w' || n % 5, CASE n % 100 WHEN 10 THEN 'running' WHEN 20 THEN 'pending' ELSE 'waiting' END,
      CASE WHEN n % 30 = 0 THEN n END, CASE n % 100 WHEN 10 THEN 'wrk_1' END`,
    'n % 10 = 0 AND n % 40 > 0',
  ],
  [
    'wait (run_id, key, type, name, stream, account, value, since_seq)',
    `${RUN}, 'a', 'file.moved', 'f', 0, 'default', 'v' || n, n`,
    'n % 10 = 0',
  ],
  ['wait (run_id, key, approval, fence)', `${RUN}, 'b', 'apr_' || lpad((n / 5000)::text, 23, '0'), 1`, 'n % 10 = 0'],
  [
    'gate_slot (workflow, gate, key, is_held, rank, run_id, survives_sleep)',
    `'w1', 'concurrency-1', 'k' || n % 100, 0, 0, ${RUN}, 0`,
    'n % 10 = 0',
  ],
]

/** The large tables, and their partitions. */
export const LARGE_TABLE = new RegExp(
  `^(${[...Object.keys(ROWS), ...SOME.map(([table]) => table)].map((each) => each.split(' ')[0]).join('|')})(_old)?$`,
)

/** Fills every table that grows, without the bounds between them. */
export async function fillTables(client: pg.Client): Promise<void> {
  const all = [...Object.entries(ROWS).map(([table, values]) => [table, values, 'true']), ...SOME]
  for (const [table, values, which] of all) {
    const rows = `generate_series(1, ${FILLED_ROWS}) AS n WHERE ${which}`
    await client.query(`INSERT INTO ${table} SELECT ${values} FROM ${rows}`)
  }
}
