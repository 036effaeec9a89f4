import type { Database } from 'better-sqlite3'
import { hashBody, identify, STREAMS, streamOf } from '../postgres/incoming/event-table.ts'

/** Tables of PostgreSQL that a move does not copy; it or the processes fill them again. */
export const LEFT_OUT = [
  'schema_version',
  'move',
  'stream',
  'write_probe',
  'match_cursor',
  'event_key',
  'file_book',
  'process',
  'worker',
  'worker_workflow',
]

/** A number of an event in its stream; one of an event that is gone stays below all others. */
const EVENT_SEQ = 'pg_seq(event_seq, (SELECT account FROM event WHERE seq = event_seq))'
/** The number behind every event of any stream that was stored by then. */
const after = (column: string) => `${column} * ${STREAMS} + ${STREAMS - 1}`

/** SQL for columns with other values in PostgreSQL, by table. The rest keeps name and value. */
const COLUMNS: Record<string, Record<string, string>> = {
  event: { stream: 'pg_stream(account)', seq: 'pg_seq(seq, account)' },
  event_body: { seq: 'pg_seq(seq, account)' },
  event_identity: {
    identity: 'pg_identity(account, id)',
    seq: 'pg_seq(seq, account)',
    body_hash: 'pg_hash(body, body_hash)',
  },
  delivery: { event_seq: EVENT_SEQ },
  effect: { event_seq: EVENT_SEQ },
  hook_answer: { event_seq: EVENT_SEQ },
  run: { event_seq: EVENT_SEQ, since_seq: after('since_seq'), chain_seq: after('chain_seq') },
  // The worker of a run is gone: it waits to be claimed, and its fence refuses a late write.
  work: {
    status: `iif(status = 'running', 'pending', status)`,
    fence: `fence + (status = 'running')`,
    worker: 'NULL',
    claim: 'NULL',
  },
  wait: {
    stream: 'iif(type IS NULL, NULL, pg_stream(account))',
    since_seq: after('since_seq'),
    event_seq: EVENT_SEQ,
  },
  bulk: { owner: 'NULL', seen_at: 'NULL' },
}

/** The table of SQLite with the rows of one of PostgreSQL, where it has another name. */
const SOURCES: Record<string, string> = {
  event_body: `event WHERE body <> ''`,
  event_identity: 'event',
}

/** The rows of a table of PostgreSQL, as a statement of SQLite. */
export function selectFor(table: string, columns: readonly string[]): string {
  const values = columns.map((column) => `${COLUMNS[table]?.[column] ?? `"${column}"`} AS "${column}"`)
  return `SELECT ${values.join(', ')} FROM ${SOURCES[table] ?? `"${table}"`}`
}

/** Lets a connection to SQLite compute what its rows are in PostgreSQL. */
export function addFunctions(db: Database): void {
  const define = (name: string, compute: (...values: never[]) => unknown) =>
    db.function(name, { deterministic: true }, compute as (...values: unknown[]) => unknown)
  define('pg_stream', (account: string) => streamOf(account))
  define('pg_seq', (seq: number | null, account: string | null) => seq && numberOf(seq, account))
  define('pg_identity', (account: string, id: string) => writeUuid(identify(account, id)))
  define('pg_hash', (body: string, kept: Buffer | null) => writeUuid(kept?.toString('hex') ?? hashBody(body)))
}

/** Numbers keep their order within each stream. See decision 63. */
function numberOf(seq: number, account: string | null): number {
  return seq * STREAMS + (account === null ? 0 : streamOf(account))
}

/** The first 32 digits, as PostgreSQL writes them. */
function writeUuid(digits: string): string {
  return digits.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
