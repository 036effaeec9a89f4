import type { EffectRecord } from '../../../core/safety/effect.ts'
import type { LostBegin } from '../../../core/safety/ledger/verify-ledger.ts'
import type { EffectFilter } from '../../../core/store/effects.ts'
import type { SearchPart, SearchSlice } from '../../../core/store/search.ts'
import { type Statement, Table } from '../../connection.ts'
import { buildWhere, type Condition, given, isLongText } from '../../rows/build-where.ts'

/** A page of rows, oldest first. */
interface EffectPage {
  /** The last row of the page before; null for the first page. */
  beyond: Pick<EffectRecord, 'at' | 'seq'> | null
  limit: number
}

const NEWEST_FIRST = 'ORDER BY at DESC, seq DESC'

/** Reads the effect ledger. A search visits one index, newest first, and at most one slice. */
export class EffectSearch extends Table {
  /** The statement of the newest list: a reader of many runs asks the same of each. */
  #listing: { sql: string; rows: Statement<unknown[], EffectRecord> } | null = null
  /** Selects rows, each with the id of the event that caused it. */
  readonly #select: string = `SELECT seq, at, phase, of_seq, class, operation, account, target, path, bytes, workflow,
      run_id, step, event_seq, (SELECT id FROM event WHERE ${this.db.sql.isEvent('effect.event_seq')}) AS event_id,
      code, approval, actor, asked, expect, before, outcome, proof, error, erased
    FROM effect`

  /**
   * Newest first; with `after` those numbered above it, in the order of their numbers. -Infinity:
   * from the lowest on.
   */
  async listEffects({
    after,
    limit,
    ...filter
  }: EffectFilter & { after?: number; limit: number }): Promise<EffectRecord[]> {
    if (after === undefined) return this.#read(planEffectPath(filter), [], limit)
    const { where, values } = buildWhere([
      ...(after === -Infinity ? [] : [['seq > ?', after] as Condition]),
      ...this.#describe(filter),
    ])
    // Index: primary key.
    const rows = this.db.prepare<unknown[], EffectRecord>(
      `${this.#select} ${this.db.sql.along(null)} ${where} ORDER BY seq LIMIT ?`,
    )
    return rows.all(...values, limit)
  }

  /**
   * Steps that name the ledger row in which they began, where it is not there. Only rows above
   * `prunedTo`, in their order. Reads every step.
   */
  async listLostBegins({ prunedTo, limit }: { prunedTo: number; limit: number }): Promise<LostBegin[]> {
    const rows = this.db.prepare<[number, number], LostBegin>(
      `SELECT run_id, key AS step, effect_seq AS seq FROM step
       WHERE effect_seq > ? AND NOT EXISTS (SELECT 1 FROM effect WHERE effect.seq = step.effect_seq
         AND effect.phase = 'begun' AND effect.run_id = step.run_id AND effect.step = step.key)
       ORDER BY effect_seq LIMIT ?`,
    )
    return rows.all(prunedTo, limit)
  }

  /** One slice of the rows that match, newest first; `searchPage` joins slices. */
  async searchEffects(filter: EffectFilter, { rows, limit, after }: SearchSlice): Promise<SearchPart<EffectRecord>> {
    const path = planEffectPath(filter)
    const below: Condition[] = after === null ? [] : [atPosition('<', readPosition(after))]
    const edge = await this.#findEdge(path, below, rows)
    const within = edge === undefined ? below : [...below, atPosition('>=', edge)]
    const items = await this.#read(path, within, limit)
    const last = items.length === limit ? items.at(-1) : edge
    const looked = await this.#count(path, last === undefined ? below : [...below, atPosition('>=', last)])
    return { items, next: last === undefined ? null : writePosition(last), ...looked }
  }

  /** Oldest first, by moment and number. A rare workflow, run or file is read along its index. */
  async pageEffects({ beyond, limit, ...filter }: EffectFilter & EffectPage): Promise<EffectRecord[]> {
    const { index, along, rest } = planEffectPath(filter)
    const after = beyond === null ? [] : [atPosition('>', beyond)]
    const { where, values } = buildWhere([...along, ...after, ...this.#describe(rest)])
    const rows = this.db.prepare<unknown[], EffectRecord>(
      `${this.#select} ${this.db.sql.along(index)} ${where} ORDER BY at, seq LIMIT ?`,
    )
    return rows.all(...values, limit)
  }

  async #read({ index, along, rest }: Path, within: Condition[], limit: number): Promise<EffectRecord[]> {
    const { where, values } = buildWhere([...along, ...within, ...this.#describe(rest)])
    const sql = `${this.#select} ${this.db.sql.along(index)} ${where} ${NEWEST_FIRST} LIMIT ?`
    if (this.#listing?.sql !== sql) this.#listing = { sql, rows: this.db.prepare<unknown[], EffectRecord>(sql) }
    return this.#listing.rows.all(...values, limit)
  }

  /** The last row of a slice of so many; undefined where there are fewer. */
  async #findEdge({ index, along }: Path, below: Condition[], rows: number): Promise<EffectPosition | undefined> {
    const { where, values } = buildWhere([...along, ...below])
    const edge = this.db.prepare<unknown[], EffectPosition>(
      `SELECT at, seq FROM effect ${this.db.sql.along(index)} ${where} ${NEWEST_FIRST} LIMIT 1 OFFSET ?`,
    )
    return edge.get(...values, rows - 1)
  }

  async #count({ index, along }: Path, within: Condition[]): Promise<Looked> {
    const { where, values } = buildWhere([...along, ...within])
    const looked = this.db.prepare<unknown[], { rows: number; oldest: number | null }>(
      `SELECT count(*) AS rows, min(at) AS oldest FROM effect ${this.db.sql.along(index)} ${where}`,
    )
    const { rows = 0, oldest = null } = (await looked.get(...values)) ?? {}
    return { rows, from: oldest }
  }

  #describe({ phases, since, until, ...columns }: EffectFilter): Condition[] {
    const conditions: Condition[] = phases === undefined ? [] : [[this.db.sql.isOneOf('phase', 'text'), [...phases]]]
    const { runId, ...named } = columns
    const compared = Object.entries(named).map(([name, value]) => [`${name} = ?`, value])
    return [...conditions, ...given({ ...Object.fromEntries(compared), 'run_id = ?': runId }), ...during(since, until)]
  }
}

function during(since: number | undefined, until: number | undefined): Condition[] {
  return given({ 'at >= ?': since, 'at < ?': until })
}

type Path = ReturnType<typeof planEffectPath>
type Looked = Pick<SearchPart<unknown>, 'rows' | 'from'>

/** How ledger rows are found newest first: along one index, in the order of their moments. */
interface EffectPath {
  index: 'effect_target' | 'effect_path' | 'effect_run' | 'effect_workflow' | 'effect_at'
  /** Conditions that the index answers: rows outside them are not read. */
  along: Condition[]
  /** The parts of the filter that are compared with each row read. */
  rest: EffectFilter
}

/** The indexes by the part of the filter that they answer, the narrowest first. */
const INDEXES = [
  ['target', 'effect_target', (target) => [isLongText('target', '?'), target, target]],
  ['path', 'effect_path', (path) => [isLongText('path', '?'), path, path]],
  ['runId', 'effect_run', (run) => ['run_id = ?', run]],
  ['workflow', 'effect_workflow', (workflow) => ['workflow = ?', workflow]],
] as const satisfies readonly [keyof EffectFilter, EffectPath['index'], (value: unknown) => Condition][]

function planEffectPath({ since, until, ...filter }: EffectFilter): EffectPath {
  const span = during(since, until)
  const found = INDEXES.find(([name]) => filter[name] !== undefined)
  if (found === undefined) return { index: 'effect_at', along: span, rest: filter }
  const [name, index, compare] = found
  return { index, along: [compare(filter[name]), ...span], rest: { ...filter, [name]: undefined } }
}

/** A row in the order of moments. */
type EffectPosition = Pick<EffectRecord, 'at' | 'seq'>

/** The rows before, from or after a position, in that order. */
function atPosition(order: '<' | '>=' | '>', { at, seq }: EffectPosition): Condition {
  return [`(at, seq) ${order} (?, ?)`, at, seq]
}

function writePosition({ at, seq }: EffectPosition): string {
  return `${at}_${seq}`
}

function readPosition(text: string): EffectPosition {
  const [at = 0, seq = 0] = text.split('_').map(Number)
  return { at, seq }
}
