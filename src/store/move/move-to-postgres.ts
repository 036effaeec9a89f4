import { randomUUID } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type pg from 'pg'
import { UpshotError } from '../../core/errors.ts'
import { quoteName } from '../postgres/database/migrate.ts'
import { STREAMS } from '../postgres/incoming/event-table.ts'
import { migratePostgres, type PostgresStoreOptions, withSession } from '../postgres/open-postgres-store.ts'
import { type Moved, migrate, readMoved } from '../sqlite/database/migrate.ts'
import { openAlone, openDatabase } from '../sqlite/database/open-database.ts'
import { translateFault } from '../sqlite/database/storage-fault.ts'
import { copyTable, listTargets } from './copy-tables.ts'
import { addFunctions } from './table-selects.ts'

export interface MoveOptions {
  now: number
  /** Called with the rows that were copied so far, and all of them. */
  onProgress: (part: { done: number; total: number }) => void
}

export interface MoveReport {
  /** Rows by table of PostgreSQL; empty where an earlier call had copied them. */
  rows: Record<string, number>
}

/** Rows of any of these say that the target is in use. */
const USED = ['event', 'run', 'delivery', 'endpoint', 'account', 'workflow', 'audit']

/**
 * Moves a database file into PostgreSQL, and marks the file, which opens no more. A call that was
 * killed at any moment is finished by the next one. Throws `conflict` where another process has the
 * file open: it would go on writing into it. So it does for a replay under way. See decision 70.
 */
export async function moveToPostgres(
  file: string,
  target: PostgresStoreOptions,
  options: MoveOptions,
): Promise<MoveReport> {
  let source: Database | undefined
  try {
    const from = openAlone(file)
    source = from
    await migratePostgres(target)
    return await withSession(target, (client, place) => move(from, client, { ...options, place }))
  } catch (error) {
    throw translateFault(error, file)
  } finally {
    source?.close()
  }
}

/** Whether the rows of a file are in PostgreSQL by now. */
export function isMoved(file: string): boolean {
  const source = openDatabase(file)
  try {
    return readMoved(source) !== null
  } finally {
    source.close()
  }
}

async function move(
  source: Database,
  client: pg.Client,
  { place, now, onProgress }: MoveOptions & { place: string },
): Promise<MoveReport> {
  const moved = readMoved(source)
  if (moved !== null) {
    await finish(client, moved)
    return { rows: {} }
  }
  migrate(source)
  refuseReplay(source)
  addFunctions(source)
  source.exec('BEGIN IMMEDIATE')
  const id = randomUUID()
  const rows = await copyAll(source, client, { id, now, onProgress })
  source.exec('CREATE TABLE moved (id TEXT NOT NULL, place TEXT NOT NULL, at INTEGER NOT NULL) STRICT')
  source.prepare('INSERT INTO moved (id, place, at) VALUES (?, ?, ?)').run(id, place, now)
  source.exec('COMMIT')
  await finish(client, { id, place })
  return { rows }
}

/** Copies all tables in one transaction, after which no process starts on them before `finish`. */
async function copyAll(
  source: Database,
  client: pg.Client,
  { id, now, onProgress }: { id: string; now: number; onProgress: MoveOptions['onProgress'] },
): Promise<Record<string, number>> {
  const targets = await listTargets(client)
  const total = countAll(source)
  let done = 0
  const onRows = (rows: number) => {
    done += rows
    onProgress({ done, total: Math.max(done, total) })
  }
  await client.query('BEGIN')
  try {
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    await client.query('LOCK TABLE move IN ACCESS EXCLUSIVE MODE')
    await requireUnused(client)
    await client.query(`TRUNCATE move, ${targets.map(({ name }) => quoteName(name)).join(', ')}`)
    await client.query('INSERT INTO move (id, at, is_done) VALUES ($1, $2, 0)', [id, now])
    const rows: Record<string, number> = {}
    for (const table of targets) rows[table.name] = await copyTable(source, client, { table, onRows })
    await goOnCounting(source, client)
    await openCursors(client, now)
    // The first questions come before the server looks at the rows by itself.
    await client.query(`ANALYZE ${targets.map(({ name }) => quoteName(name)).join(', ')}`)
    await client.query('COMMIT')
    return rows
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** PostgreSQL has another order of events: it would skip some, or make their runs once more. */
function refuseReplay(source: Database): void {
  const underWay = source.prepare<[], string>(
    `SELECT id FROM bulk WHERE status IN ('counting', 'running') AND cursor IS NOT NULL
       AND plan ->> 'kind' = 'replay' ORDER BY id LIMIT 1`,
  )
  const id = underWay.pluck().get()
  if (id === undefined) return
  throw new UpshotError('conflict', `The replay of events ${id} is under way, and cannot go on in PostgreSQL.`, {
    details: { fix: `Start the app until it has ended, or run "upshot operations abort ${id}".` },
  })
}

/** Lets processes start on the target of a marked file. Throws `conflict` for another target. */
async function finish(client: pg.Client, { id, place }: Moved): Promise<void> {
  const { rowCount } = await client.query('UPDATE move SET is_done = 1 WHERE id = $1', [id])
  if (rowCount === 1) return
  throw new UpshotError('conflict', `The database file was moved to ${place} before, and not to this database.`, {
    details: { fix: 'Name that database with UPSHOT_DATABASE_URL.' },
  })
}

/** A move that did not end left rows that nobody has used. */
async function requireUnused(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ isDone: number }>('SELECT is_done FROM move')
  if (rows[0]?.isDone === 0) return
  for (const table of USED) {
    if ((await client.query(`SELECT 1 FROM "${table}" LIMIT 1`)).rowCount === 0) continue
    throw new UpshotError('conflict', `The PostgreSQL database is in use: its table ${table} has rows.`, {
      details: { fix: 'Name an empty schema with "?schema=…" in UPSHOT_DATABASE_URL.' },
    })
  }
}

/** New numbers come after those of the rows that were copied. */
async function goOnCounting(source: Database, client: pg.Client): Promise<void> {
  const newest = source.prepare<[], number | null>('SELECT max(seq) FROM event').pluck().get() ?? 0
  await client.query('UPDATE stream SET seq = $1::bigint * $2 + id', [newest, STREAMS])
  for (const [table, column] of Object.entries({ effect: 'seq', sweep: 'id' })) {
    const sequence = `pg_get_serial_sequence('${table}', '${column}')`
    await client.query(`SELECT setval(${sequence}, max(${column})) FROM ${table} HAVING max(${column}) > 0`)
  }
}

/**
 * Has events matched for the waits that are open, which no process looks at without a cursor. Each
 * process opens one of its own version beside it.
 */
async function openCursors(client: pg.Client, now: number): Promise<void> {
  await client.query('TRUNCATE match_cursor')
  await client.query(
    `INSERT INTO match_cursor (stream, type, name, version, floor_seq, position_seq, used_at)
     SELECT stream, type, name, 'moved', min(since_seq), min(since_seq), $1 FROM wait
     WHERE type IS NOT NULL AND is_resolved = 0 GROUP BY stream, type, name`,
    [now],
  )
}

/** Rows to copy; each event and each run is two or three of them. */
function countAll(source: Database): number {
  const count = (table: string) => source.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0
  return 3 * count('event') + 2 * count('run') + count('step') + count('delivery') + count('effect')
}
