import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Failure } from '../../src/core/errors.ts'
import { newId } from '../../src/core/ids.ts'
import { groupFailure } from '../../src/core/runs/failure-group.ts'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../../src/store/sqlite/database/open-database.ts'
import { SEGMENT_ROWS } from '../../src/store/sqlite/incoming/known-events.ts'
import { syncFile } from './prefill-events.ts'
import { acceptWholeRuns } from './whole-runs.ts'

const DAY_MS = 86_400_000
const DAYS = 60
/** Runs of each event. */
const FAN_OUT = 5
const WORKFLOWS = ['verify-transfer', 'record-arrival', 'retire-source', 'alert-on-failure', 'ingest']
/** One of so many runs is of a workflow that hardly ever runs, failed, was canceled, or waits. */
const SHARES = { rare: 200_003, failed: 251, canceled: 401, forPerson: 50_021, untilLater: 9_973 }

interface HistorySize {
  runs: number
  /** Steps of the newest run; the others have none. */
  steps: number
  /** Bytes of its output. */
  outputBytes: number
}

/** Ids to ask for. */
export interface History {
  /** The newest run. */
  longRun: string
  /** The kind of the failures that `ERROR` ended. */
  group: string
}

const ERROR: Failure = { name: 'FilesError', message: 'The key may not delete in storage_c (403)', step: 'copy' }

/**
 * Makes a database of a busy installation, and syncs it: runs of the last 60 days, five of each
 * event. A few failed, wait, or are of a rare workflow.
 */
export function prefillHistory(file: string, { runs, steps, outputBytes }: HistorySize, now: number): History {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const db = openDatabase(file)
  migrate(db)
  for (const each of ['synchronous = OFF', 'cache_size = -1048576', 'wal_autocheckpoint = 50000']) db.pragma(each)
  acceptWholeRuns(db)
  const events = Math.ceil(runs / FAN_OUT)
  const history = { first: now - DAYS * DAY_MS, gap: (DAYS * DAY_MS) / events }
  db.function('new_id', { deterministic: false }, (kind: 'run' | 'dlv', at: number) => newId(kind, at))
  const group = groupFailure('verify-transfer', ERROR).id
  db.transaction(() => {
    fillEvents(db, events, history)
    fillRuns(db, runs, group)
  })()
  const longRun = String(db.prepare('SELECT max(run_id) FROM outcome').pluck().get())
  fillSteps(db, longRun, steps)
  db.prepare(`UPDATE outcome SET status = 'completed', output = ? WHERE run_id = ?`).run(outputOf(outputBytes), longRun)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  syncFile(file)
  return { longRun, group }
}

function fillEvents(db: Database, count: number, { first, gap }: { first: number; gap: number }): void {
  db.prepare("INSERT OR IGNORE INTO event_account (name) VALUES ('default')").run()
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @count)
     INSERT INTO event (seq, segment, id, account, type, origin, created_at, received_at, identity, body)
     SELECT i, CAST(i / ${SEGMENT_ROWS} AS INTEGER), 'evt_' || printf('%010d', i), 'default',
       iif(i % 3 = 0, 'file.created', 'transfer.completed'), 'webhook',
       CAST(@first + i * @gap AS INTEGER), CAST(@first + i * @gap AS INTEGER), randomblob(16),
       json_object('id', 'evt_' || printf('%010d', i), 'type', iif(i % 3 = 0, 'file.created', 'transfer.completed'),
         'data', json_object('service', 'storage_a', 'file', json_object('id', 'fil_' || i, 'size', i,
           'path', '/in/' || (i % 997) || '/ledger-' || i || '.json')))
     FROM n`,
  ).run({ count, first, gap })
  db.exec(
    `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
     SELECT new_id('dlv', received_at), 'end_01hzy3v7q2m8abcdefghjk', received_at, 'accepted', id, seq, length(body),
       '{"secret":0}' FROM event ORDER BY seq`,
  )
}

function fillRuns(db: Database, count: number, group: string): void {
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @count),
       made AS (SELECT i, event.seq, event.received_at AS at,
         CASE WHEN i % ${SHARES.forPerson} = 0 OR i % ${SHARES.untilLater} = 0 THEN 'waiting'
           WHEN i % ${SHARES.failed} = 0 THEN 'failed' WHEN i % ${SHARES.canceled} = 0 THEN 'canceled'
           ELSE 'completed' END AS status
         FROM n JOIN event ON event.seq = (i - 1) / ${FAN_OUT} + 1)
     INSERT INTO full_run (id, workflow, status, reason, event_seq, fence, created_at, started_at, finished_at, due_at,
       output, error)
     SELECT new_id('run', at), iif(i % ${SHARES.rare} = 0, 'rare', json_extract(@workflows, '$[' || (i % 5) || ']')),
       status,
       CASE WHEN i % ${SHARES.forPerson} = 0 THEN 'it died five times' WHEN status = 'waiting' THEN 'asleep' END,
       seq, 1, at, at + 40, iif(status = 'waiting', NULL, at + 60 + i % 50),
       iif(status = 'waiting' AND i % ${SHARES.forPerson} <> 0, at + 400 * ${DAY_MS}, NULL),
       iif(status = 'completed', 'null', NULL), iif(status = 'failed', @error, NULL)
     FROM made`,
  ).run({ count, workflows: JSON.stringify(WORKFLOWS), error: JSON.stringify(ERROR) })
  db.prepare(`UPDATE outcome SET failure_group = ? WHERE status = 'failed'`).run(group)
}

function fillSteps(db: Database, run: string, steps: number): void {
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
     INSERT INTO step (run_id, key, position, kind, effect, status, attempt, output, started_at, finished_at)
     SELECT ?, 'copy[' || i || ']', i, 'run', 'write', 'completed', 1, json_object('copied', i), created_at + i,
       created_at + i + 1 FROM n JOIN run ON run.id = ?`,
  ).run(steps, run, run)
}

/** A list of paths, as an inventory gives one. */
function outputOf(bytes: number): string {
  const line = '/in/2026/quarterly-report.pdf'
  return JSON.stringify(Array.from({ length: Math.ceil(bytes / (line.length + 3)) }, () => line))
}
