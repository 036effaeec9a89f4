import { closeSync, fsyncSync, openSync } from 'node:fs'
import { PAUSED_REASON } from '../../src/core/runs/run.ts'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../../src/store/sqlite/database/open-database.ts'
import { SEGMENT_ROWS } from '../../src/store/sqlite/incoming/known-events.ts'
import { BODY_PARTS, EVENT_TYPE } from '../deliveries.ts'
import { acceptWholeRuns } from './whole-runs.ts'

const BATCH = 100_000

interface Unfinished {
  /**
   * One run of so many waits for a moment, an event or the end of a pause. The others are finished.
   * Default 0: no run waits.
   */
  waitingOf?: number
}

const YEAR_MS = 365 * 86_400_000

/**
 * Makes a database of `count` events with random ids, each with a delivery and a run. It syncs the
 * file, so that no write continues during a measurement.
 */
export function prefillEvents(file: string, count: number, { waitingOf = 0 }: Unfinished = {}): void {
  const db = openDatabase(file)
  migrate(db)
  db.pragma('synchronous = OFF')
  db.pragma('cache_size = -1048576')
  const [before, after] = BODY_PARTS
  const fill = db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT @from UNION ALL SELECT i + 1 FROM n WHERE i + 1 < @from + @count),
       made (i, word) AS MATERIALIZED (SELECT i, lower(hex(randomblob(16))) FROM n)
     INSERT INTO event (seq, segment, id, account, type, origin, created_at, received_at, identity, body)
     SELECT i, CAST(i / ${SEGMENT_ROWS} AS INTEGER), 'evt_' || word, 'default', @type, 'webhook',
       @at + i, @at + i, randomblob(16), @before || word || @after FROM made`,
  )
  acceptWholeRuns(db)
  const ids = { delivery: idLike('dlv'), run: idLike('run') }
  const fillDeliveries = db.prepare(
    `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, body_bytes, facts)
     SELECT ${ids.delivery}, 'end_01hzy3v7q2m8abcdefghjk', received_at, 'accepted', id, length(body), '{"secret":0}'
     FROM event WHERE seq >= @from AND seq < @from + @count ORDER BY seq`,
  )
  const fillRuns = db.prepare(
    `INSERT INTO full_run (id, workflow, status, event_seq, fence, created_at, started_at, finished_at, due_at, awaits,
       reason, output)
     SELECT ${ids.run}, 'measured', iif(kind IS NULL, 'completed', 'waiting'), seq, 1, received_at, received_at,
       iif(kind IS NULL, received_at, NULL), iif(kind = 0, @dueAt, NULL), kind = 1,
       iif(kind = 2, '${PAUSED_REASON}', NULL), iif(kind IS NULL, 'null', NULL)
     FROM (SELECT *, iif(seq % @waitingOf = 0, seq / @waitingOf % 3, NULL) AS kind FROM event
       WHERE seq >= @from AND seq < @from + @count ORDER BY seq)`,
  )
  const at = Date.UTC(2026, 0, 1)
  const dueAt = Date.now() + YEAR_MS
  for (let from = 1; from <= count; from += BATCH) {
    const range = { from, count: Math.min(BATCH, count - from + 1) }
    db.transaction(() => {
      fill.run({ ...range, at, type: EVENT_TYPE, before, after })
      fillDeliveries.run(range)
      fillRuns.run({ ...range, waitingOf, dueAt })
    })()
  }
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  syncFile(file)
}

/** Syncs a file to disk. */
export function syncFile(file: string): void {
  const descriptor = openSync(file, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** SQL for an id of the real length whose time part is the row's number, so older than real ids. */
function idLike(prefix: string): string {
  return `'${prefix}_' || printf('%09d', seq) || substr(lower(hex(randomblob(7))), 1, 14)`
}
