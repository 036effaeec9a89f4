import { firstId } from '../../../core/ids.ts'
import {
  BULK_SILENCE_MS,
  type BulkCount,
  type BulkOperation,
  type BulkPlan,
  type BulkRefusal,
  type BulkStatus,
  MAX_REFUSALS,
} from '../../../core/safety/bulk.ts'
import { Table } from '../../connection.ts'

interface BulkRow extends Pick<BulkOperation, 'id' | 'status' | 'cursor' | 'done' | 'refused' | 'endedAt'> {
  plan: string
  count: string
}

function readBulk({ plan, count, ...row }: BulkRow): BulkOperation {
  return { ...JSON.parse(plan), ...row, count: JSON.parse(count) }
}

const COLUMNS = 'id, plan, status, count, cursor, done, refused, ended_at'
/** Operations of one slice of a prune: each may have a thousand refusals. */
const MAX_PRUNED = 4

/** The end of one that took longer is not found by its moment. */
const MAX_BULK_MS = 90 * 86_400_000

interface EndedBulks {
  since: number
  until: number
  limit: number
}

const NOTHING: BulkCount = { total: 0, runs: 0, first: [] }

/** Operations on many runs or events. A cursor moves in the commit of the slice that it passes. */
export class BulkTable extends Table {
  // Index: bulk_open, with the few operations that are not over.
  // A moment far ahead is of a clock that was set back since.
  readonly #claim = this.db.prepare<{ owner: string; now: number }, BulkRow>(
    `UPDATE bulk SET owner = @owner, seen_at = @now WHERE id = (
       SELECT id FROM bulk WHERE status IN ('counting', 'running')
         AND (owner IS NULL OR owner = @owner OR abs(seen_at - CAST(@now AS bigint)) >= ${BULK_SILENCE_MS})
       ORDER BY id LIMIT 1
       ${this.db.sql.skipLocked})
     RETURNING ${COLUMNS}`,
  )
  // Index: primary key, from here on.
  readonly #list = this.db.prepare<[string, number], BulkRow>(
    `SELECT ${COLUMNS} FROM bulk WHERE id < ? ORDER BY id DESC LIMIT ?`,
  )
  readonly #ended = this.db.prepare<[string, number, number, number], BulkRow>(
    `SELECT ${COLUMNS} FROM bulk WHERE id >= ? AND ended_at > ? AND ended_at <= ? ORDER BY ended_at, id LIMIT ?`,
  )
  readonly #move = this.db.prepare<Move>(
    `UPDATE bulk SET status = @status, count = @count, cursor = @next, seen_at = @now, ended_at = @endedAt
     WHERE id = @id AND owner = @owner AND status = @was AND cursor IS NOT DISTINCT FROM @after`,
  )

  /** Starts an operation; the next process that is free performs it. */
  readonly startBulk = this.write(
    `INSERT INTO bulk (id, plan, status, count) VALUES (?, ?, 'counting', ?)`,
    (plan: BulkPlan) => [plan.id, JSON.stringify(plan), JSON.stringify(NOTHING)],
  )

  /** False when it is over. */
  readonly abortBulk = this.change(
    `UPDATE bulk SET status = 'aborted', ended_at = ? WHERE id = ? AND status IN ('counting', 'running')`,
    (id: string, now: number) => [now, id],
  )

  /** Takes the oldest operation that no process has worked on for 10 s. */
  async claimBulk(owner: string, now: number): Promise<BulkOperation | null> {
    const row = await this.#claim.get({ owner, now })
    return row ? readBulk(row) : null
  }

  readonly findBulk = this.readRow<[id: string], BulkRow, BulkOperation>(
    `SELECT ${COLUMNS} FROM bulk WHERE id = ?`,
    readBulk,
  )

  /** Newest first; `before`: the id of the last one of the page before. */
  async listBulks({ limit, before = '~' }: { limit: number; before?: string }): Promise<BulkOperation[]> {
    return (await this.#list.all(before, limit)).map(readBulk)
  }

  /** Those that ended after `since` and by `until`, in that order. None that was begun long ago. */
  async listEndedBulks({ since, until, limit }: EndedBulks): Promise<BulkOperation[]> {
    return (await this.#ended.all(firstId('opr', since - MAX_BULK_MS), since, until, limit)).map(readBulk)
  }

  /** The first thousand, in their order. */
  readonly listBulkRefusals = this.readRows<[id: string], BulkRefusal>(
    'SELECT target, why FROM bulk_refusal WHERE bulk_id = ? ORDER BY number',
  )

  /** `number`: its place among the refusals of its slice, from 1. */
  readonly refuse = this.write<[BulkRefusal & { id: string; number: number }]>(
    `INSERT INTO bulk_refusal (bulk_id, target, why) SELECT @id, @target, @why
     WHERE (SELECT refused FROM bulk WHERE id = @id) + CAST(@number AS bigint) <= ${MAX_REFUSALS}`,
  )

  // Index: primary key; bulk_refusal_of.
  readonly #old = this.db.pluck<[string, number, number], string>(
    'SELECT id FROM bulk WHERE id < ? AND ended_at < ? ORDER BY id LIMIT ?',
  )
  readonly #drop = [
    this.db.prepare<[string[]]>(`DELETE FROM bulk_refusal WHERE ${this.db.sql.isOneOf('bulk_id', 'text')}`),
    this.db.prepare<[string[]]>(`DELETE FROM bulk WHERE ${this.db.sql.isOneOf('id', 'text')}`),
  ]

  /** Rows of operations that ended before a moment, with their refusals; of so many operations. */
  readonly countOld = this.readValue<[before: number, limit: number], number>(
    `SELECT CAST(coalesce(sum(1 + (SELECT count(*) FROM bulk_refusal WHERE bulk_id = old.id)), 0) AS bigint)
     FROM (SELECT id FROM bulk WHERE id < ? AND ended_at < ? ORDER BY id LIMIT ?) AS old`,
    (before, limit) => [firstId('opr', before), before, limit],
  )

  /** Deletes rows of some operations that ended before a moment. `isRest`: more may be left. */
  async prune(before: number): Promise<{ rows: number; isRest: boolean }> {
    const ids = await this.#old.all(firstId('opr', before), before, MAX_PRUNED)
    let rows = 0
    for (const drop of this.#drop) rows += ids.length > 0 ? (await drop.run(ids)).changes : 0
    return { rows, isRest: ids.length === MAX_PRUNED }
  }

  readonly add = this.write<[{ id: string; done: number; refused: number }]>(
    'UPDATE bulk SET done = done + @done, refused = refused + @refused WHERE id = @id',
  )

  /** A compare-and-set of the cursor: false when another process or an abort was first. */
  async move(move: Omit<Move, 'count'> & { count: BulkCount }): Promise<boolean> {
    return (await this.#move.run({ ...move, count: JSON.stringify(move.count) })).changes === 1
  }
}

interface Move {
  id: string
  owner: string
  was: BulkStatus
  status: BulkStatus
  after: string | null
  next: string | null
  count: string
  now: number
  endedAt: number | null
}
