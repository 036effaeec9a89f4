import { closeSync, fsyncSync, openSync } from 'node:fs'
import { migrate } from '../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../src/store/sqlite/database/open-database.ts'
import { STRETCH_ROWS } from '../src/store/sqlite/incoming/bloom-filter.ts'
import { BODY_PARTS, EVENT_TYPE } from './deliveries.ts'

const BATCH = 100_000

/**
 * Makes a database with `count` events, each with its delivery and its finished run, with ids as
 * random as real ones and bodies of the usual size. All of it is on disk afterwards, so that no
 * writing goes on behind the measurement.
 */
export function prefill(file: string, count: number): void {
  const db = openDatabase(file)
  migrate(db)
  db.pragma('synchronous = OFF')
  db.pragma('cache_size = -1048576')
  const [before, after] = BODY_PARTS
  const fill = db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT @from UNION ALL SELECT i + 1 FROM n WHERE i + 1 < @from + @count),
       made (i, word) AS MATERIALIZED (SELECT i, lower(hex(randomblob(16))) FROM n)
     INSERT INTO event (seq, stretch, id, account, type, origin, created_at, received_at, identity, body)
     SELECT i, CAST(i / ${STRETCH_ROWS} AS INTEGER), 'evt_' || word, 'default', @type, 'webhook', @at + i, @at + i, randomblob(16),
       @before || word || @after FROM made`,
  )
  const ids = { delivery: idLike('dlv'), run: idLike('run') }
  const fillDeliveries = db.prepare(
    `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, body_bytes, facts)
     SELECT ${ids.delivery}, 'end_01hzy3v7q2m8abcdefghjk', received_at, 'accepted', id, length(body), '{"secret":0}'
     FROM event WHERE seq >= @from AND seq < @from + @count ORDER BY seq`,
  )
  const fillRuns = db.prepare(
    `INSERT INTO run (id, workflow, status, event_seq, fence, created_at, started_at, finished_at, output)
     SELECT ${ids.run}, 'measured', 'completed', seq, 1, received_at, received_at, received_at, 'null'
     FROM event WHERE seq >= @from AND seq < @from + @count ORDER BY seq`,
  )
  const at = Date.UTC(2026, 0, 1)
  for (let from = 1; from <= count; from += BATCH) {
    const range = { from, count: Math.min(BATCH, count - from + 1) }
    db.transaction(() => {
      fill.run({ ...range, at, type: EVENT_TYPE, before, after })
      fillDeliveries.run(range)
      fillRuns.run(range)
    })()
  }
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  flushFile(file)
}

/** Returns when all of a file is on disk. */
export function flushFile(file: string): void {
  const descriptor = openSync(file, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/**
 * An id with the row's number where real ones have their time: older than any real one, and as
 * long.
 */
function idLike(prefix: string): string {
  return `'${prefix}_' || printf('%09d', seq) || substr(lower(hex(randomblob(7))), 1, 14)`
}
