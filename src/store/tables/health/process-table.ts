import type { BrokenModule } from '../../../core/runs/workflow-record.ts'
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
  readonly #drop = this.db.prepare('DELETE FROM process WHERE id = ?')
  readonly #dropSilent = this.db.prepare('DELETE FROM process WHERE seen_at < ?')
  readonly #list = this.db.prepare<[], ProcessRow>('SELECT * FROM process ORDER BY id DESC')

  /** Writes the row of a process; removes those that have been silent for a day. */
  async beatProcess(process: ProcessRecord): Promise<void> {
    await this.#dropSilent.run(process.seenAt - DAY_MS)
    await this.#save.run({ ...process, broken: JSON.stringify(process.broken) })
  }

  async removeProcess(id: string): Promise<void> {
    await this.#drop.run(id)
  }

  /** Newest first; also those that are silent. */
  async listProcesses(): Promise<ProcessRecord[]> {
    return (await this.#list.all()).map((row) => ({ ...row, broken: JSON.parse(row.broken) as BrokenModule[] }))
  }
}
