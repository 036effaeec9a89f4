import type { Progress } from '../../../core/runs/annotations/progress.ts'
import type { KeptLogLine, RunLogLine } from '../../../core/runs/annotations/run-log.ts'
import type { Tag, Tags } from '../../../core/runs/annotations/tags.ts'
import { Table } from '../../connection.ts'

/** Newest lines of its log that are kept for a run. */
export const RUN_LOG_LINES = 500

/** Tags and progress, as runs tell them. Index: primary keys, except where one is named. */
export class AnnotationTable extends Table {
  readonly #saveTags = this.db.prepare<[string, string]>(
    `INSERT INTO run_tag (run_id, name, value) SELECT ?, value ->> 0, value ->> 1 FROM ${this.db.sql.rows}
     WHERE true ON CONFLICT (run_id, name) DO UPDATE SET value = excluded.value`,
  )
  readonly #saveProgress = this.db.prepare<[Progress & { runId: string }]>(
    `INSERT INTO run_progress (run_id, done, total, failed, note, rate, reported_at)
     VALUES (@runId, @done, @total, @failed, @note, @rate, @at)
     ON CONFLICT (run_id) DO UPDATE SET done = excluded.done, total = excluded.total, failed = excluded.failed,
       note = excluded.note, rate = excluded.rate, reported_at = excluded.reported_at`,
  )
  readonly #dropTags = this.db.prepare<[string]>('DELETE FROM run_tag WHERE run_id = ?')
  readonly #dropProgress = this.db.prepare<[string]>('DELETE FROM run_progress WHERE run_id = ?')
  // Index: run_tag_value.
  readonly #count = this.db.pluck<[string, string, number], number>(
    'SELECT count(*) FROM (SELECT 1 FROM run_tag WHERE name = ? AND value = ? LIMIT ?) AS few',
  )

  async saveTags(runId: string, tags: Tags): Promise<void> {
    const rows = Object.entries(tags)
    if (rows.length > 0) await this.#saveTags.run(runId, JSON.stringify(rows))
  }

  async saveProgress(runId: string, { done, total, failed, note, rate, at }: Progress): Promise<void> {
    await this.#saveProgress.run({ runId, done, total, failed, note, rate, at })
  }

  /** A run that is made from another one has its tags. */
  readonly copyTags = this.write(
    'INSERT INTO run_tag (run_id, name, value) SELECT ?, name, value FROM run_tag WHERE run_id = ?',
    (from: string, to: string) => [to, from],
  )

  /** For a run that begins from scratch. */
  async drop(runId: string): Promise<void> {
    await this.#dropTags.run(runId)
    await this.#dropProgress.run(runId)
  }

  /** The number of runs with a tag, counted up to `most`. */
  async countTagged([name, value]: Tag, most: number): Promise<number> {
    return (await this.#count.get(name, value, most)) ?? 0
  }
}

/** The newest log lines of each run. Only a run that logs has rows here. */
export class RunLogTable extends Table {
  // Index: primary keys of run_log and run. A pruned run gets no line any more.
  readonly #add = this.db.pluck<[RunLogLine], number>(`INSERT INTO run_log (run_id, number, at, level, message, facts)
       SELECT id, 1 + coalesce((SELECT max(number) FROM run_log WHERE run_id = @runId), 0),
         CAST(@at AS bigint), @level, @message, @facts
       FROM run WHERE id = @runId ON CONFLICT DO NOTHING RETURNING number`)
  // Index: primary key.
  readonly #trim = this.db.prepare('DELETE FROM run_log WHERE run_id = ? AND number <= ?')

  /** Adds log lines of runs. The newest `RUN_LOG_LINES` of each run stay. */
  async saveRunLog(lines: readonly RunLogLine[]): Promise<void> {
    for (const line of lines) {
      // Another process may have added one meanwhile, as the worker that had the run before.
      const number = (await this.#add.get(line)) ?? (await this.#add.get(line)) ?? 0
      if (number > RUN_LOG_LINES) await this.#trim.run(line.runId, number - RUN_LOG_LINES)
    }
  }

  /** Log lines of a run, oldest first. */
  readonly listRunLog = this.readRows<[runId: string], KeptLogLine>(
    `SELECT run_id, number, at, level, message, facts FROM run_log WHERE run_id = ? ORDER BY number`,
  )
}
