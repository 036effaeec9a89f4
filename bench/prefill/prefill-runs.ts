import type { Database } from 'better-sqlite3'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../../src/store/sqlite/database/open-database.ts'
import { EVENT_TYPE } from '../deliveries.ts'
import { MANY_STEPS } from '../workflows/many-steps.ts'
import { syncFile } from './prefill-events.ts'
import { acceptWholeRuns } from './whole-runs.ts'

/** Events that all runs share: a claim reads one, and a million bodies would only fill the disk. */
const EVENTS = 1_000
const AT = Date.UTC(2026, 0, 1)

/** Numbers of runs by kind. The pending ones are the youngest. */
export interface Backlog {
  finished: number
  pending: number
}

/** Makes a database with these runs, and syncs it. */
export function prefillRuns(file: string, { finished, pending }: Backlog): void {
  const db = openUnsafely(file)
  db.transaction(() => {
    fillEvents(db)
    fillRuns(db, { from: 1, count: finished, status: 'completed' })
    fillRuns(db, { from: finished + 1, count: pending, status: 'pending' })
  })()
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  syncFile(file)
}

/** Makes a database with a pending run of `many-steps` whose steps are all finished. */
export function prefillJournal(file: string): void {
  const db = openUnsafely(file)
  const run = 'run_0000000000000000000000a'
  db.transaction(() => {
    fillEvents(db)
    db.prepare(
      `INSERT INTO full_run (id, workflow, status, event_seq, fence, created_at, started_at)
       VALUES (?, 'many-steps', 'pending', 1, 1, ?, ?)`,
    ).run(run, AT, AT)
    db.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
       INSERT INTO step (run_id, key, position, kind, effect, status, attempt, output, started_at, finished_at)
       SELECT ?, 'add[' || i || ']', i, 'run', 'write', 'completed', 1, CAST(i AS TEXT), ?, ? FROM n`,
    ).run(MANY_STEPS, run, AT, AT)
  })()
  db.close()
}

function openUnsafely(file: string): Database {
  const db = openDatabase(file)
  migrate(db)
  db.pragma('synchronous = OFF')
  db.pragma('cache_size = -1048576')
  acceptWholeRuns(db)
  return db
}

function fillEvents(db: Database, type = 'bench.many'): void {
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${EVENTS})
     INSERT OR IGNORE INTO event (seq, segment, identity, id, account, type, origin, created_at, received_at, body)
     SELECT i, CAST(i / 512 AS INTEGER), randomblob(16), 'evt_' || i, 'default', @type, 'webhook', @at, @at,
       json_object('id', 'evt_' || i, 'type', @type, 'created', '2026-01-01T00:00:00Z',
         'data', json_object('note', printf('%.900c', 'n')))
     FROM n`,
  ).run({ type, at: AT })
}

function fillRuns(db: Database, { from, count, status }: { from: number; count: number; status: string }): void {
  const isFinished = status === 'completed'
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT @from UNION ALL SELECT i + 1 FROM n WHERE i + 1 < @from + @count)
     INSERT INTO full_run (id, workflow, status, event_seq, fence, created_at, started_at, finished_at, output)
     SELECT 'run_' || printf('%013d', i) || substr(lower(hex(randomblob(5))), 1, 10), 'measured',
       @status, i % ${EVENTS} + 1, @fence, @at, @startedAt, @startedAt, @output FROM n WHERE @count > 0`,
  ).run({
    from,
    count,
    status,
    at: AT,
    fence: isFinished ? 1 : 0,
    startedAt: isFinished ? AT : null,
    output: isFinished ? 'null' : null,
  })
}

/** Makes a database with completed runs of `measured`, each with a journal of three writes. */
export function prefillRecorded(file: string, runs: number): void {
  const db = openUnsafely(file)
  db.transaction(() => {
    fillEvents(db, EVENT_TYPE)
    fillRuns(db, { from: 1, count: runs, status: 'completed' })
    db.exec(
      `INSERT INTO step (run_id, key, position, kind, effect, status, attempt, output, started_at, finished_at)
       SELECT run.id, given.value, given.key, 'run', 'write', 'completed', 1, CAST(given.key + 1 AS TEXT),
         started_at, started_at
       FROM full_run AS run, json_each('["one", "two", "three"]') AS given`,
    )
  })()
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  syncFile(file)
}

/** Completed runs of `measured`, each with a tag of 1,000 customers and one of ten regions. */
export function prefillTagged(file: string, runs: number): void {
  const db = openUnsafely(file)
  db.transaction(() => {
    fillEvents(db)
    fillRuns(db, { from: 1, count: runs, status: 'completed' })
    for (const [name, letter, kinds] of [
      ['customer', 'c', 1_000],
      ['region', 'r', 10],
    ]) {
      db.prepare(
        `INSERT INTO run_tag (run_id, name, value)
         SELECT id, ?, ? || (CAST(substr(id, 5, 13) AS INTEGER) % CAST(? AS INTEGER)) FROM run ORDER BY id`,
      ).run(name, letter, kinds)
    }
  })()
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  syncFile(file)
}
