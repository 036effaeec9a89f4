import { Table } from '../../connection.ts'

/** A run whose children are canceled, and how far that is done. */
export interface Closing {
  runId: string
  reason: string
  /** The id up to which they are. */
  after: string
}

/** Runs that have more children to cancel than one commit does. */
export class ClosingTable extends Table {
  // Index: primary key.
  readonly #dropWaits = this.db.prepare<[string]>(
    `DELETE FROM wait WHERE run_id = ? AND is_cancel = 0
       AND (child_run IS NOT NULL OR type IS NOT NULL OR hook IS NOT NULL)`,
  )

  /**
   * The unfinished children of a run that may not outlive it, and that no step of it waits for. A
   * run that begins anew has a wait for each child that it makes then. Index: primary keys,
   * run_invoked and wait_child, a row at a time: no planner makes a join of these.
   */
  readonly listChildren = this.readValues<[Closing & { limit: number }], string>(
    `SELECT id FROM run WHERE parent_run = @runId AND id > @after AND outlives = 0
       AND (SELECT 1 FROM work WHERE work.run_id = run.id) = 1
       AND (SELECT 1 FROM wait WHERE wait.child_run = run.id AND wait.run_id = run.parent_run LIMIT 1) IS NULL
     ORDER BY id LIMIT @limit`,
  )

  /** Later commits go on from there. */
  readonly save = this.write<[Closing]>(
    `INSERT INTO closing (run_id, reason, after_run) VALUES (@runId, @reason, @after)
     ON CONFLICT (run_id) DO UPDATE SET reason = excluded.reason, after_run = excluded.after_run`,
  )

  /** A run begins anew: no step waits any more. Events may still cancel it. */
  async restart(runId: string): Promise<void> {
    await this.#dropWaits.run(runId)
    await this.save({ runId, reason: describeClose(runId, 'was begun anew'), after: '' })
  }

  /** One of them, which is gone with this commit; null: there is none. */
  readonly take = this.readRow<[], Closing>(
    `DELETE FROM closing WHERE run_id = (SELECT run_id FROM closing ORDER BY run_id LIMIT 1 ${this.db.sql.skipLocked})
     RETURNING run_id, reason, after_run AS after`,
  )
}

/** Why a run is canceled: because of the end of the one that invoked it, or another beginning. */
export function describeClose(parent: string, why: 'failed' | 'was canceled' | 'was begun anew'): string {
  return `run ${parent}, which invoked it, ${why}`
}
