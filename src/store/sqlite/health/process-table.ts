import type { Database } from 'better-sqlite3'
import type { ProcessRecord } from '../../../core/store/health/processes.ts'

const DAY_MS = 86_400_000

/** The running processes, a row each. Index: primary key; a handful of rows. */
export class ProcessTable {
  readonly #save
  readonly #drop
  readonly #dropSilent
  readonly #list

  constructor(db: Database) {
    this.#save = db.prepare<[ProcessRecord]>(
      `INSERT INTO process (id, role, pid, version, admin_url, receiver_url, started_at, seen_at)
       VALUES (@id, @role, @pid, @version, @adminUrl, @receiverUrl, @startedAt, @seenAt)
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
    )
    this.#drop = db.prepare('DELETE FROM process WHERE id = ?')
    this.#dropSilent = db.prepare('DELETE FROM process WHERE seen_at < ?')
    this.#list = db.prepare<[], ProcessRecord>(
      `SELECT id, role, pid, version, admin_url AS adminUrl, receiver_url AS receiverUrl, started_at AS startedAt,
         seen_at AS seenAt FROM process ORDER BY id DESC`,
    )
  }

  beat(process: ProcessRecord): void {
    this.#dropSilent.run(process.seenAt - DAY_MS)
    this.#save.run(process)
  }

  remove(id: string): void {
    this.#drop.run(id)
  }

  list(): ProcessRecord[] {
    return this.#list.all()
  }
}
