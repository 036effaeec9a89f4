import { firstId } from '../../../core/ids.ts'
import { LASTING_TARGET } from '../../../core/safety/audit.ts'
import {
  type Prunable,
  type PruneBounds,
  type PruneKind,
  type PruneQuestion,
  type WeekKind,
  weekBoundOf,
} from '../../../core/store/retention.ts'
import { JoinedTable } from '../../connection.ts'
import { findHolder } from '../../rows/run-sql.ts'
import type { BulkTable } from '../bulk/bulk-table.ts'
import type { SealTable } from '../safety/seal-table.ts'
import { FilePruning } from './file-pruning.ts'
import { type Counted, FINISHED, type PruneDriver, REFUSED } from './pruning.ts'

/** The rows that a prune goes through: those of the weeks that go at once, and the older ones. */
interface Reach {
  /** Where the weeks that go at once begin; `below` where there are none. */
  from: number
  below: number
  weeks: Prunable['weeks']
}

interface RunCount {
  before: number
  failures: number | null
  from: string
  below: string
  limit: number
}

const WEEKS_OF: Partial<Record<PruneKind, WeekKind>> = {
  runs: 'runs',
  failures: 'runs',
  refusals: 'deliveries',
  deliveries: 'deliveries',
  payloads: 'payloads',
}

const isOld = (status: string, at: string) => `coalesce(${status} IN ${FINISHED.runs} AND ${at} < @before, false)`
const GOES_BEFORE = `run.id < old.run_id AND ${isOld('run.end_status', 'run.finished_at')}
  OR run.id >= @from AND run.id < @below AND (${isOld('run.end_status', 'run.finished_at')}
    OR coalesce(run.end_status IN ${FINISHED.failures} AND run.finished_at < CAST(@failures AS bigint), false))`

interface CountedTables extends PruneDriver {
  bulks: Pick<BulkTable, 'countOld'>
  seals: SealTable
}

/** Counts what a prune would remove, by the indexes that it goes along. It writes nothing. */
export class PruneCounts extends JoinedTable<CountedTables> {
  /**
   * Index: primary keys; outcome_ended_badly, delivery_refused, known_file_gone. A folded run goes
   * only if the runs that have its event are gone by then.
   */
  readonly #sql = {
    runs: this.db.prepare<[RunCount], Counted>(
      `${COUNT} FROM (SELECT ${isOld('status', 'finished_at')} AND (folded_into IS NULL
           OR ${findHolder('old.folded_into', `NOT (${GOES_BEFORE})`)} IS NULL) AS goes
         FROM outcome AS old WHERE run_id < @below ORDER BY run_id LIMIT @limit) AS part`,
    ),
    failures: this.db.prepare<[{ status: string; before: number; below: string; limit: number }], Counted>(
      `${COUNT} FROM (SELECT finished_at < @before AS goes FROM outcome ${this.db.sql.along('outcome_ended_badly')}
         WHERE status IN ${FINISHED.failures} AND status = @status AND run_id < @below
         ORDER BY run_id LIMIT @limit) AS part`,
    ),
    verdicts: this.db.pluck<[], string>('SELECT verdict FROM refusal_tally'),
    refusals: this.db.prepare<[string, string, number], Counted>(
      `${COUNT} FROM (SELECT true AS goes FROM delivery ${this.db.sql.along('delivery_refused')}
         WHERE event_id IS NULL AND verdict = ? AND id < ? ORDER BY id LIMIT ?) AS part`,
    ),
    deliveries: this.db.prepare<[string, number], Counted>(
      `${COUNT} FROM (SELECT NOT (${REFUSED}) AS goes FROM delivery WHERE id < ? ORDER BY id LIMIT ?) AS part`,
    ),
    audit: this.db.prepare<[string, number], Counted>(
      `${COUNT} FROM (SELECT true AS goes FROM audit
         WHERE id < ? AND target IS DISTINCT FROM '${LASTING_TARGET}' ORDER BY id LIMIT ?) AS part`,
    ),
    effects: this.db.prepare<[number, number], Counted>(
      `${COUNT} FROM (SELECT true AS goes FROM effect WHERE seq <= ? ORDER BY seq LIMIT ?) AS part`,
    ),
  }
  readonly #files = new FilePruning(this.db)

  /** Counts what a prune would remove of a kind, from the oldest row on, and changes nothing. */
  async countPrunable({ kind, bounds, now, limit }: PruneQuestion): Promise<Prunable> {
    const before = bounds[kind]
    if (before === null) return { rows: 0, isComplete: true, bytes: null, weeks: null }
    const reach = await this.#reachOf(kind, { bounds, before })
    const counted = await this.#countWithin(reach, { kind, bounds, now, limit, before })
    const { read, rows, bytes = null } = counted ?? { read: 0, rows: 0 }
    return { rows, isComplete: read < limit, bytes, weeks: reach.weeks }
  }

  async #reachOf(kind: PruneKind, { bounds, before }: { bounds: PruneBounds; before: number }): Promise<Reach> {
    const weekKind = WEEKS_OF[kind]
    if (weekKind === undefined) return { from: before, below: before, weeks: null }
    const weeks = await this.parts.weeks.list(weekKind)
    const bound = weekBoundOf(weekKind, bounds)
    const due = weeks.filter(({ from, to }) => bound !== null && from !== null && to !== null && to <= bound)
    const edge = due.at(-1)?.to ?? weeks[0]?.to ?? Number.MAX_SAFE_INTEGER
    const below = Math.min(before, edge)
    // Failures go with the weeks of runs, and refusals with those of deliveries.
    const isOwner = weekKind === kind && due.length > 0
    const bytes = isOwner ? await this.parts.weeks.measure(weekKind, due) : 0
    return { from: due[0]?.from ?? below, below, weeks: isOwner ? { count: due.length, bytes } : null }
  }

  async #countWithin(
    { from, below }: Reach,
    { kind, bounds, now, limit, before }: PruneQuestion & { before: number },
  ): Promise<Counted | undefined> {
    switch (kind) {
      case 'runs': {
        const span = { from: firstId('run', from), below: firstId('run', below) }
        return await this.#sql.runs.get({ ...span, before, failures: bounds.failures, limit })
      }
      case 'failures':
        return await countEach(['canceled', 'failed'], limit, (status, left) =>
          this.#sql.failures.get({ status, before, below: firstId('run', below), limit: left }),
        )
      case 'refusals':
        return await countEach(await this.#sql.verdicts.all(), limit, (verdict, left) =>
          this.#sql.refusals.get(verdict, firstId('dlv', below), left),
        )
      case 'deliveries':
        return await this.#sql.deliveries.get(firstId('dlv', below), limit)
      case 'payloads':
        return await this.parts.bodies.count(below, limit)
      case 'audit': {
        const { read, rows } = (await this.#sql.audit.get(firstId('aud', before), limit)) ?? { read: 0, rows: 0 }
        const operations = (await this.parts.bulks.countOld(before, limit - read)) ?? 0
        return { read: read + operations, rows: rows + operations }
      }
      case 'effects': {
        const upTo = (await this.parts.seals.findPrunable(before, limit)) ?? (await this.parts.seals.prunedTo())
        return await this.#sql.effects.get(upTo, limit)
      }
      case 'files':
        return await this.#files.count(before, { now, limit })
      default:
        return kind satisfies never
    }
  }
}

/** The sum over groups of one index, which share the limit. */
async function countEach(
  groups: readonly string[],
  limit: number,
  count: (group: string, limit: number) => Promise<Counted | undefined>,
): Promise<Counted> {
  const total = { read: 0, rows: 0 }
  for (const group of groups) {
    const { read, rows } = (await count(group, limit - total.read)) ?? { read: 0, rows: 0 }
    total.read += read
    total.rows += rows
  }
  return total
}

const COUNT = 'SELECT count(*) AS read, count(*) FILTER (WHERE goes) AS rows'
