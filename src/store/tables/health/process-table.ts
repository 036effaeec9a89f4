import type { ProcessRecord } from '../../../core/store/process-record.ts'
import { Table } from '../../connection.ts'

const DAY_MS = 86_400_000

type ProcessRow = Omit<ProcessRecord, 'broken'> & { broken: string }

/** The running processes, a row each. Index: primary key; a handful of rows. */
export class ProcessTable extends Table {
  readonly #save = this.db.prepare<[ProcessRow]>(
    `INSERT INTO process (id, role, pid, version, admin_url, receiver_url, started_at, seen_at, broken)
     VALUES (@id, @role, @pid, @version, @adminUrl, @receiverUrl, @startedAt, @seenAt, @broken)
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, broken = excluded.broken`,
  )
  readonly #dropSilent = this.db.prepare('DELETE FROM process WHERE seen_at < ?')

  /** Writes the row of a process; removes those that have been silent for a day. */
  async beatProcess(process: ProcessRecord): Promise<void> {
    await this.#dropSilent.run(process.seenAt - DAY_MS)
    await this.#save.run({ ...process, broken: JSON.stringify(process.broken) })
  }

  readonly removeProcess = this.write<[id: string]>('DELETE FROM process WHERE id = ?')

  /** Newest first; also those that are silent. */
  readonly listProcesses = this.readRows<[], ProcessRow, ProcessRecord>(
    'SELECT * FROM process ORDER BY id DESC',
    (row) => ({ ...row, broken: JSON.parse(row.broken) }),
  )
}
