import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Statement } from 'better-sqlite3'
import Database from 'better-sqlite3'
import { UpshotError } from '../../core/errors.ts'

export type Db = Database.Database

/** Step n takes a file from version n to n + 1. Steps are only ever appended. */
const MIGRATIONS = [
  `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  CREATE TABLE keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL UNIQUE, scope TEXT NOT NULL,
    created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER, last_used_at INTEGER
  ) STRICT;

  CREATE TABLE storages (
    name TEXT PRIMARY KEY, made_here INTEGER NOT NULL, indexed INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE entries (
    storage TEXT NOT NULL, id TEXT NOT NULL, path TEXT NOT NULL, parent TEXT NOT NULL, name TEXT NOT NULL,
    type TEXT NOT NULL, size INTEGER, mime_type TEXT, identity TEXT NOT NULL, fingerprint TEXT NOT NULL,
    created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL,
    PRIMARY KEY (storage, id)
  ) STRICT;
  CREATE UNIQUE INDEX entries_by_path ON entries (storage, path);
  CREATE INDEX entries_by_identity ON entries (storage, identity);
  CREATE INDEX entries_by_age ON entries (storage, created_at, id, path);
  CREATE INDEX entries_in_folder ON entries (storage, parent, created_at, id);

  CREATE TABLE events (
    id TEXT PRIMARY KEY, type TEXT NOT NULL, created_at INTEGER NOT NULL, service TEXT, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_age ON events (created_at);

  CREATE TABLE webhooks (
    id TEXT PRIMARY KEY, url TEXT NOT NULL, events TEXT NOT NULL, storages TEXT, secrets TEXT NOT NULL,
    scheme TEXT NOT NULL, enabled INTEGER NOT NULL, created_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE deliveries (
    id TEXT PRIMARY KEY, event_id TEXT NOT NULL REFERENCES events (id), webhook_id TEXT NOT NULL, url TEXT NOT NULL,
    cause TEXT NOT NULL, state TEXT NOT NULL, diverted INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER, created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'pending';
  CREATE INDEX deliveries_of_event ON deliveries (event_id);
  CREATE TABLE attempts (
    delivery_id TEXT NOT NULL REFERENCES deliveries (id), number INTEGER NOT NULL, at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL, status INTEGER, error TEXT,
    PRIMARY KEY (delivery_id, number)
  ) STRICT;

  CREATE TABLE faults (
    number INTEGER PRIMARY KEY AUTOINCREMENT, rule TEXT NOT NULL, seen INTEGER NOT NULL, struck INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, operation TEXT NOT NULL, key_id TEXT,
    status INTEGER NOT NULL, code TEXT, fault_id TEXT
  ) STRICT;
  CREATE TABLE findings (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, rule TEXT NOT NULL, key_id TEXT,
    message TEXT NOT NULL
  ) STRICT;

  CREATE TABLE transfers (
    id TEXT PRIMARY KEY, type TEXT NOT NULL, status TEXT NOT NULL, source TEXT NOT NULL, destination TEXT NOT NULL,
    existing TEXT NOT NULL, fail_at REAL, files_total INTEGER NOT NULL, files_done INTEGER NOT NULL,
    files_kept INTEGER NOT NULL, bytes_total INTEGER NOT NULL, bytes_done INTEGER NOT NULL, created_at INTEGER NOT NULL,
    started_at INTEGER, finished_at INTEGER, error TEXT
  ) STRICT;
  CREATE INDEX transfers_open ON transfers (id) WHERE status IN ('queued', 'running');
  `,
]

/**
 * Opens the state under `dir`, creating both if missing. An exclusive lock keeps other sandboxes
 * away from `dir`.
 */
export function openDatabase(dir: string): Db {
  mkdirSync(dir, { recursive: true })
  const db = new Database(join(dir, 'sandbox.db'), { timeout: 0 })
  try {
    db.pragma('locking_mode = EXCLUSIVE')
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    migrate(db)
    return db
  } catch (error) {
    db.close()
    if (!isLocked(error)) throw error
    throw new UpshotError('conflict', `Another sandbox is running on ${dir}.`, {
      details: { fix: 'Stop it, or choose another directory.' },
    })
  }
}

function migrate(db: Db): void {
  const version = Number(db.pragma('user_version', { simple: true }))
  db.transaction(() => {
    for (const step of MIGRATIONS.slice(version)) db.exec(step)
    db.pragma(`user_version = ${MIGRATIONS.length}`)
  }).immediate()
}

function isLocked(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

const prepared = new WeakMap<Db, Map<string, Statement<unknown[]>>>()

/**
 * The statement of this text, prepared once per database. For constant texts only, because all are
 * kept.
 */
export function statement<Parameters extends unknown[] = unknown[], Row = unknown>(
  db: Db,
  sql: string,
): Statement<Parameters, Row> {
  const known = prepared.get(db) ?? new Map<string, Statement<unknown[]>>()
  prepared.set(db, known)
  const found = known.get(sql) ?? db.prepare(sql)
  known.set(sql, found)
  return found as unknown as Statement<Parameters, Row>
}

/** Runs `work` in the open transaction, or in one of its own. */
export function atomically<Result>(db: Db, work: () => Result): Result {
  return db.inTransaction ? work() : db.transaction(work)()
}
