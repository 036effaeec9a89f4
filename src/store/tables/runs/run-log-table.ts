import { type KeptLogLine, RUN_LOG_LINES, type RunLogLine } from '../../../core/runs/told/run-log.ts'
import { Table } from '../../connection.ts'

/** The newest log lines of each run. Only a run that logs has rows here. */
export class RunLogTable extends Table {
  // Index: primary keys of run_log and run. A pruned run gets no line any more.
  readonly #add = this.db.pluck<[RunLogLine], number>(`INSERT INTO run_log (run_id, number, at, level, message, facts)
       SELECT id, 1 + coalesce((SELECT max(number) FROM run_log WHERE run_id = @runId), 0),
         CAST(@at AS bigint), @level, @message, @facts
       FROM run WHERE id = @runId RETURNING number`)
  // Index: primary key.
  readonly #trim = this.db.prepare('DELETE FROM run_log WHERE run_id = ? AND number <= ?')
  readonly #list = this.db.prepare<[string], KeptLogLine>(
    `SELECT run_id AS runId, number, at, level, message, facts FROM run_log WHERE run_id = ? ORDER BY number`,
  )

  /** Adds log lines of runs. The newest `RUN_LOG_LINES` of each run stay. */
  async saveRunLog(lines: readonly RunLogLine[]): Promise<void> {
    for (const line of lines) {
      const number = (await this.#add.get(line)) ?? 0
      if (number > RUN_LOG_LINES) await this.#trim.run(line.runId, number - RUN_LOG_LINES)
    }
  }

  /** Log lines of a run, oldest first. */
  async listRunLog(runId: string): Promise<KeptLogLine[]> {
    return await this.#list.all(runId)
  }
}
