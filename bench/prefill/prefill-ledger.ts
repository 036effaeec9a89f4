import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { openDatabase } from '../../src/store/sqlite/database/open-database.ts'
import { syncFile } from './prefill-events.ts'

const AT = Date.UTC(2026, 0, 1)
/** Multiplied with a row's number, it spreads the files over the index as real names would. */
const SPREAD = 7_919
/** One of so many pairs is of the workflow `rare`. */
const RARE = 500_000

/** The moment of a row, counted from 0: one each millisecond. */
export function momentOf(row: number): number {
  return AT + row
}

/** The run of the pair of rows `n`. */
export function runOf(n: number): string {
  return `run_${String(n).padStart(23, '0')}`
}

/** The path of the file that the pair of rows `n` deletes. */
export function pathOf(n: number, pairs: number): string {
  return `/out/2026/clip-${(n * SPREAD) % pairs}.mov`
}

/** Makes a database whose ledger has this many rows: two for each delete of a file of its own. */
export function prefillLedger(file: string, rows: number): void {
  const db = openDatabase(file)
  migrate(db)
  db.pragma('synchronous = OFF')
  db.pragma('cache_size = -1048576')
  const pairs = Math.floor(rows / 2)
  db.transaction(() => {
    db.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < @rows)
       INSERT INTO effect (at, phase, of_seq, class, operation, account, target, path, bytes, workflow, run_id, step,
         code, asked, outcome, proof)
       SELECT @at + i, iif(i % 2 = 0, 'begun', 'ended'), iif(i % 2 = 0, NULL, i), 'delete', 'files.delete', 'default',
         'storage_a:fil_' || (i / 2 * ${SPREAD} % ${pairs}),
         '/out/2026/clip-' || (i / 2 * ${SPREAD} % ${pairs}) || '.mov',
         1000 + i, iif(i / 2 % ${RARE} = 0, 'rare', 'retire-source'),
         'run_' || printf('%023d', i / 2), 'files.delete[' || (i / 2) || ']',
         '3f9a3f9a3f9a3f9a', iif(i % 2 = 0, '{"path":"/out/2026/a.mov","bytes":1000,"modifiedAt":null}', NULL),
         iif(i % 2 = 0, NULL, 'deleted'), iif(i % 2 = 0, NULL, 'reply') FROM n`,
    ).run({ rows, at: AT })
  })()
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  syncFile(file)
}
