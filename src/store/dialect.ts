import { MAX_CHAIN } from '../core/runs/wait.ts'
import type { Condition } from './rows/build-where.ts'

type EventPlace = { receivedAt: number; seq: number }

/** The few places where the SQL of the two databases differs. */
export interface Dialect {
  /** `column` is one of a list, which is one `?` and is given as an array of `type`. */
  isOneOf(column: string, type: 'text' | 'bigint'): string
  /** `column` is among what a query gives, which is read first. */
  isAmong(column: string, query: string): string
  /** The rows of a list of texts, which is one `?`; each is `value`. */
  texts: string
  /** The rows of a list of lists, as JSON in one `?`; each is `value`. */
  rows: string
  jsonNumber(column: string, key: string): string
  /** The tags of a run as JSON; null, or an empty object, without any. Index: primary key. */
  tagsOf(run: string): string
  /**
   * The cause of the run at the top of the invocations above one, as JSON. Index: primary keys,
   * once for each invocation.
   */
  rootOf(run: string): string
  /** Behind the name of a table: read along this index, or along its primary key. */
  along(index: string | null): string
  /** The row of `event` with this number. */
  isEvent(seq: string): string
  /** The order of lists of events, newest last, and the rows before or after one. */
  events: { order(direction: 'ASC' | 'DESC'): string; at(than: '<' | '<=' | '>' | '>=', event: EventPlace): Condition }
  /** Texts of any case match where the ASCII letters do. */
  like: 'LIKE' | 'ILIKE'
  /** The function that gives the place of a text in another, from 1; 0: none. */
  position: 'instr' | 'strpos'
  /** The number of the newest event in the stream of an account, given as SQL. */
  newestEvent(account: string): string
  /** The function that gives the largest of its values. */
  greatest: string
  /** False where one transaction writes at a time, so that a lock alone does nothing. */
  hasRowLocks: boolean
  /** Ends a query of rows that this transaction goes on to change; of one `table` in a join. */
  forUpdate(table?: string): string
  /** The same, but rows of another transaction are passed over. */
  skipLocked: string
  /** A further column of a lease: the history of the database. See `Lease`. */
  era: string
  bodies: 'event' | 'event_body'
  /** Asked before text is erased: rows that a file gives up are overwritten from then on. */
  wipe: string
}

/**
 * SQL that a column has one of many texts of any length, as `isLongText` says. They are given
 * twice.
 */
export function isLongTextOf(column: string, { isAmong, isOneOf, texts }: Dialect): string {
  const beginnings = isAmong(`substr(${column}, 1, 500)`, `SELECT substr(value, 1, 500) FROM ${texts}`)
  // PostgreSQL does not know that a list is not empty.
  return `${beginnings} AND ${isOneOf(column, 'text')} AND ${column} IS NOT NULL`
}

/** One transaction writes at a time, so that nothing has to be locked. */
export const SQLITE: Dialect = {
  isOneOf: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  isAmong: (column, query) => `${column} IN (${query})`,
  texts: 'json_each(?)',
  rows: 'json_each(?)',
  jsonNumber: (column, key) => `(${column} ->> '${key}')`,
  tagsOf: (run) => `(SELECT json_group_object(name, value) FROM run_tag WHERE run_tag.run_id = ${run})`,
  rootOf: (run) => `(
    SELECT json_object('id', top.id, 'workflow', top.workflow, 'tickAt', top.tick_at, 'schedule', top.schedule,
      'event', event.id, 'account', event.account)
    FROM run AS top LEFT JOIN event ON event.seq = top.event_seq WHERE top.id = (
      WITH RECURSIVE above (id, parent, level) AS (
        SELECT ${run}.id, ${run}.parent_run, 0
        UNION ALL SELECT parent, (SELECT up.parent_run FROM run AS up WHERE up.id = above.parent), level + 1
          FROM above WHERE parent IS NOT NULL AND level < ${MAX_CHAIN})
      SELECT above.id FROM above WHERE above.parent IS NULL))`,
  along: (index) => (index === null ? 'NOT INDEXED' : `INDEXED BY ${index}`),
  isEvent: (seq) => `event.seq = ${seq}`,
  // Events are numbered as they arrive, and their moments have no index.
  events: { order: (direction) => `seq ${direction}`, at: (than, { seq }) => [`seq ${than} ?`, seq] },
  like: 'LIKE',
  position: 'instr',
  newestEvent: () => '(SELECT coalesce(max(seq), 0) FROM event)',
  greatest: 'max',
  hasRowLocks: false,
  forUpdate: () => '',
  skipLocked: '',
  era: '',
  bodies: 'event',
  wipe: 'PRAGMA secure_delete = ON',
}

export const POSTGRES: Dialect = {
  isOneOf: (column, type) => `${column} = ANY (?::${type}[])`,
  isAmong: (column, query) => `${column} = ANY (ARRAY(${query}))`,
  texts: 'unnest(?::text[]) AS value',
  rows: 'json_array_elements(?::json)',
  jsonNumber: (column, key) => `(${column}::json ->> '${key}')::bigint`,
  tagsOf: (run) => `(SELECT json_object_agg(name, value)::text FROM run_tag WHERE run_tag.run_id = ${run})`,
  rootOf: (run) => `root_of_1(${run}.id)`,
  along: () => '',
  isEvent: (seq) => `event.seq = ${seq} AND event.stream = ${seq} % 8`,
  // Index: event_received.
  events: {
    order: (direction) => `received_at ${direction}, seq ${direction}`,
    at: (than, { receivedAt, seq }) => [`(received_at, seq) ${than} (?::bigint, ?::bigint)`, receivedAt, seq],
  },
  like: 'ILIKE',
  position: 'strpos',
  newestEvent: (account) => `(SELECT seq FROM stream WHERE id = stream_of(coalesce(${account}, 'default')))`,
  greatest: 'greatest',
  hasRowLocks: true,
  forUpdate: (table) => (table === undefined ? 'FOR UPDATE' : `FOR UPDATE OF ${table}`),
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  era: ', era_1() AS era',
  bodies: 'event_body',
  wipe: 'SELECT 1',
}
