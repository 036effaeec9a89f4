import { JoinedTable } from '../../connection.ts'
import { ofRun } from '../../rows/run-sql.ts'
import type { StopTable } from '../safety/stop-table.ts'
import { MAX_CARRIED } from './approval-search.ts'
import type { ApprovalTable } from './approval-table.ts'

/** The effects that a run asked for up to a fence, and how far they are taken back. */
interface Withdrawal {
  runId: string
  fence: number
  /** Epoch milliseconds; null: unknown. */
  at: number | null
  afterStep: string
  afterKey: string
}

/** Takes back what runs asked for that ended or begin anew. See decision 82. */
export class WithdrawalTable extends JoinedTable<{ approvals: ApprovalTable; stops: StopTable }> {
  /** Index: primary keys, and approval_item_step for items. */
  readonly #sql = {
    fenceOf: this.db.pluck<[string], number>(`SELECT ${ofRun('fence', 'run.id')} FROM run WHERE id = ?`),
    first: this.db.prepare<[], Withdrawal>('SELECT * FROM withdrawal ORDER BY run_id LIMIT 1'),
    // Two lives of a run may have asked for the same step: its place comes again.
    items: this.db.prepare<[string, number, string, number], { approval: string; number: number; step: string }>(
      `SELECT approval, number, step FROM approval_item
       WHERE run_id = ? AND fence <= ? AND step >= ? AND state NOT IN ('withdrawn', 'moved') ORDER BY step LIMIT ?`,
    ),
    keys: this.db.pluck<
      [string, number, string, number],
      string
    >(`SELECT key FROM wait WHERE run_id = ? AND fence <= ? AND key > ? AND approval IS NOT NULL
         ORDER BY key LIMIT ?`),
    withdraw: this.db.prepare<[string]>(
      `UPDATE approval_item SET state = 'withdrawn'
       WHERE (approval, number) IN (SELECT value ->> 0, CAST(value ->> 1 AS bigint) FROM ${this.db.sql.rows})`,
    ),
    dropWaits: this.db.prepare<[string, number, string[]]>(
      `DELETE FROM wait WHERE run_id = ? AND fence <= ? AND ${this.db.sql.isOneOf('key', 'text')}`,
    ),
    save: this.db.prepare<[Withdrawal]>(
      `INSERT INTO withdrawal (run_id, fence, at, after_step, after_key)
       VALUES (@runId, @fence, @at, @afterStep, @afterKey)
       ON CONFLICT (run_id) DO UPDATE SET fence = excluded.fence, at = excluded.at,
         after_step = excluded.after_step, after_key = excluded.after_key`,
    ),
    remove: this.db.prepare('DELETE FROM withdrawal WHERE run_id = ?'),
  }

  /** Takes back all that a run has asked for. Later commits tell the rest of a long list. */
  async begin(runId: string, at: number | null): Promise<void> {
    const fence = await this.#sql.fenceOf.get(runId)
    if (fence === undefined) return
    const all = { runId, fence, at, afterStep: '', afterKey: '' }
    // The run's row is locked, and other writes lock it last: waiting here could be for each other.
    if (await this.parts.stops.tryLock()) await this.#takeBack(all)
    else await this.#sql.save.run(all)
  }

  /** Goes on with one of them; false where none is left. */
  async carryOn(): Promise<boolean> {
    if ((await this.#sql.first.get()) === undefined) return false
    await this.parts.stops.lock()
    const next = await this.#sql.first.get()
    if (next) await this.#takeBack(next)
    return next !== undefined
  }

  async #takeBack({ runId, fence, at, afterStep, afterKey }: Withdrawal): Promise<void> {
    const items = await this.#sql.items.all(runId, fence, afterStep, MAX_CARRIED)
    const keys = await this.#sql.keys.all(runId, fence, afterKey, MAX_CARRIED)
    const numbers = items.map(({ approval, number }) => [approval, number])
    if (items.length > 0) await this.#sql.withdraw.run(JSON.stringify(numbers))
    if (keys.length > 0) await this.#sql.dropWaits.run(runId, fence, keys)
    if (items.length < MAX_CARRIED && keys.length < MAX_CARRIED) await this.#sql.remove.run(runId)
    else {
      const place = { afterStep: items.at(-1)?.step ?? afterStep, afterKey: keys.at(-1) ?? afterKey }
      await this.#sql.save.run({ runId, fence, at, ...place })
    }
    for (const id of new Set(items.map(({ approval }) => approval))) await this.parts.approvals.closeEmpty(id, at)
  }
}
