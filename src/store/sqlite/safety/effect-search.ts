import type { EffectRecord } from '../../../core/safety/effect.ts'
import type { LostBegin } from '../../../core/safety/ledger/verify-ledger.ts'
import type { EffectFilter, EffectPage } from '../../../core/store/safety/effects.ts'
import type { SearchPart, SearchSlice } from '../../../core/store/search.ts'
import type { Connection, Statement } from '../../connection.ts'
import { buildWhere, type Condition } from '../../rows/build-where.ts'
import { compareEffect } from '../../rows/safety/compare-effect.ts'
import {
  atPosition,
  type EffectPosition,
  planEffectPath,
  readPosition,
  writePosition,
} from '../../rows/safety/plan-effect-path.ts'

/** The columns of a row, with the id of the event that caused it. */
const COLUMNS = `seq, at, phase, of_seq AS ofSeq, class, operation, account, target, path, bytes, workflow,
  run_id AS runId, step, event_seq AS eventSeq,
  (SELECT id FROM event WHERE event.seq = effect.event_seq) AS eventId,
  code, approval, actor, asked, expect, before, outcome, proof, error`
const NEWEST_FIRST = 'ORDER BY at DESC, seq DESC'

/** Reads the effect ledger. A search visits one index, newest first, and at most one slice. */
export class EffectSearch {
  readonly #db: Connection
  /** The statement of the newest list: a reader of many runs asks the same of each. */
  #listing: { sql: string; rows: Statement<unknown[], EffectRecord> } | null = null

  constructor(db: Connection) {
    this.#db = db
  }

  /** Newest first. */
  async list({ limit, ...filter }: EffectFilter & { limit: number }): Promise<EffectRecord[]> {
    return this.#read(planEffectPath(filter), [], limit)
  }

  /** Numbered above `after`, in the order of their numbers. -Infinity: from the lowest on. */
  async listAfter(after: number, { limit, ...filter }: EffectFilter & { limit: number }): Promise<EffectRecord[]> {
    const { where, values } = buildWhere([
      ...(after === -Infinity ? [] : [['seq > ?', after] as Condition]),
      ...describeFilter(filter),
    ])
    // Index: primary key.
    const rows = this.#db.prepare<unknown[], EffectRecord>(
      `SELECT ${COLUMNS} FROM effect NOT INDEXED ${where} ORDER BY seq LIMIT ?`,
    )
    return rows.all(...values, limit)
  }

  /** Steps whose row above `prunedTo`, in which they began, is not there. Reads all steps. */
  async listLost(prunedTo: number, limit: number): Promise<LostBegin[]> {
    const rows = this.#db.prepare<[number, number], LostBegin>(
      `SELECT run_id AS "runId", key AS step, effect_seq AS seq FROM step
       WHERE effect_seq > ? AND NOT EXISTS (SELECT 1 FROM effect WHERE effect.seq = step.effect_seq
         AND effect.phase = 'begun' AND effect.run_id = step.run_id AND effect.step = step.key)
       ORDER BY effect_seq LIMIT ?`,
    )
    return rows.all(prunedTo, limit)
  }

  async search(filter: EffectFilter, { rows, limit, after }: SearchSlice): Promise<SearchPart<EffectRecord>> {
    const path = planEffectPath(filter)
    const below: Condition[] = after === null ? [] : [atPosition('<', readPosition(after))]
    const edge = await this.#findEdge(path, below, rows)
    const within = edge === undefined ? below : [...below, atPosition('>=', edge)]
    const items = await this.#read(path, within, limit)
    const last = items.length === limit ? items.at(-1) : edge
    const looked = await this.#count(path, last === undefined ? below : [...below, atPosition('>=', last)])
    return { items, next: last === undefined ? null : writePosition(last), ...looked }
  }

  /** Oldest first along one index, beyond the position of a row. */
  async page({ beyond, limit, ...filter }: EffectFilter & EffectPage): Promise<EffectRecord[]> {
    const { index, along, rest } = planEffectPath(filter)
    const after = beyond === null ? [] : [atPosition('>', beyond)]
    const { where, values } = buildWhere([...along, ...after, ...describeFilter(rest)])
    const rows = this.#db.prepare<unknown[], EffectRecord>(
      `SELECT ${COLUMNS} FROM effect INDEXED BY ${index} ${where} ORDER BY at, seq LIMIT ?`,
    )
    return rows.all(...values, limit)
  }

  async #read({ index, along, rest }: Path, within: Condition[], limit: number): Promise<EffectRecord[]> {
    const { where, values } = buildWhere([...along, ...within, ...describeFilter(rest)])
    const sql = `SELECT ${COLUMNS} FROM effect INDEXED BY ${index} ${where} ${NEWEST_FIRST} LIMIT ?`
    if (this.#listing?.sql !== sql) this.#listing = { sql, rows: this.#db.prepare<unknown[], EffectRecord>(sql) }
    return this.#listing.rows.all(...values, limit)
  }

  /** The last row of a slice of so many; undefined where there are fewer. */
  async #findEdge({ index, along }: Path, below: Condition[], rows: number): Promise<EffectPosition | undefined> {
    const { where, values } = buildWhere([...along, ...below])
    const edge = this.#db.prepare<unknown[], EffectPosition>(
      `SELECT at, seq FROM effect INDEXED BY ${index} ${where} ${NEWEST_FIRST} LIMIT 1 OFFSET ?`,
    )
    return edge.get(...values, rows - 1)
  }

  async #count({ index, along }: Path, within: Condition[]): Promise<Looked> {
    const { where, values } = buildWhere([...along, ...within])
    const looked = this.#db.prepare<unknown[], { rows: number; oldest: number | null }>(
      `SELECT count(*) AS rows, min(at) AS oldest FROM effect INDEXED BY ${index} ${where}`,
    )
    const { rows = 0, oldest = null } = (await looked.get(...values)) ?? {}
    return { rows, from: oldest }
  }
}

type Path = ReturnType<typeof planEffectPath>
type Looked = Pick<SearchPart<unknown>, 'rows' | 'from'>

/** The conditions of a filter. */
function describeFilter(filter: EffectFilter): Condition[] {
  return compareEffect(filter, (phases) => ['phase IN (SELECT value FROM json_each(?))', JSON.stringify(phases)])
}
