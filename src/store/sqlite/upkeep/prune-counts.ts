import { firstId } from '../../../core/ids.ts'
import { LASTING_TARGET } from '../../../core/safety/audit.ts'
import type { Prunable, PruneQuestion } from '../../../core/store/retention.ts'
import type { Connection } from '../../connection.ts'
import { countJudged, readSweeps, SWEEP_SQL, type SweepRow, type ToldOf } from '../../rows/health/sweep-rows.ts'
import type { SealTable } from '../../tables/safety/seal-table.ts'
import { FINISHED, REFUSED } from '../../tables/upkeep/pruning.ts'
import { OLD_EVENTS, type OldEvent, PRUNE_MARK, selectAbsorber } from './body-pruning.ts'

/** Rows that a read looked at, and those of them that would go. */
interface Counted {
  read: number
  rows: number
}

/** Events that one statement reads. */
const EVENTS_AT_ONCE = 2_000

/** Counts what a prune would remove, by the indexes that it goes along. It writes nothing. */
export class PruneCounts {
  readonly #seals: SealTable
  readonly #sql

  constructor(db: Connection, seals: SealTable) {
    this.#seals = seals
    this.#sql = prepareCounts(db)
  }

  async count({ kind, bounds, now, limit }: PruneQuestion): Promise<Prunable> {
    const before = bounds[kind]
    if (before === null) return describe({ read: 0, rows: 0 }, limit)
    switch (kind) {
      case 'runs':
        return describe(await this.#sql.runs.get({ before, below: firstId('run', before), limit }), limit)
      case 'failures':
        return describe(await this.#countFailures(before, limit), limit)
      case 'refusals':
        return describe(await this.#countRefusals(before, limit), limit)
      case 'deliveries':
        return describe(await this.#sql.deliveries.get(firstId('dlv', before), limit), limit)
      case 'payloads':
        return this.#countBodies(before, limit)
      case 'audit':
        return describe(await this.#sql.audit.get(firstId('aud', before), limit), limit)
      case 'effects':
        return describe(await this.#countEffects(before, limit), limit)
      case 'files':
        return describe(await this.#countFiles(before, { now, limit }), limit)
      default:
        return kind satisfies never
    }
  }

  async #countFailures(before: number, limit: number): Promise<Counted> {
    const below = firstId('run', before)
    return countEach(['canceled', 'failed'], limit, async (status, left) =>
      this.#sql.failures.get({ status, before, below, limit: left }),
    )
  }

  async #countRefusals(before: number, limit: number): Promise<Counted> {
    const below = firstId('dlv', before)
    return countEach(await this.#sql.verdicts.all(), limit, async (verdict, left) =>
      this.#sql.refusals.get(verdict, below, left),
    )
  }

  /** Ends at the first event that is young enough, as a prune does. */
  async #countBodies(before: number, limit: number): Promise<Prunable> {
    const total = { read: 0, rows: 0, bytes: 0 }
    let after = (await this.#sql.mark.get('payloads')) ?? 0
    while (total.read < limit) {
      const asked = Math.min(EVENTS_AT_ONCE, limit - total.read)
      const found = await this.#sql.events.all(after, asked)
      const old = found.slice(0, found.findIndex((row) => row.received_at >= before) >>> 0)
      const emptied = old.filter((row) => row.bytes > 0 && row.is_needed === 0)
      total.read += old.length
      total.rows += emptied.length
      total.bytes += emptied.reduce((sum, { bytes }) => sum + bytes, 0)
      after = old.at(-1)?.seq ?? after
      if (old.length < asked) break
    }
    return { ...describe(total, limit), bytes: total.bytes }
  }

  async #countEffects(before: number, limit: number): Promise<Counted | undefined> {
    const upTo = (await this.#seals.findPrunable(before, limit)) ?? (await this.#seals.prunedTo())
    return this.#sql.effects.get(upTo, limit)
  }

  async #countFiles(before: number, { now, limit }: { now: number; limit: number }): Promise<Counted> {
    const gone = (await this.#sql.gone.get({ before, limit })) ?? 0
    const told = await this.#sql.told.all({ before, limit: limit - gone })
    const sweeps = readSweeps(await this.#sql.sweeps.all())
    return { read: gone + told.length, rows: gone + countJudged(told, sweeps, { before, now }) }
  }
}

function describe({ read, rows }: Counted = { read: 0, rows: 0 }, limit: number): Prunable {
  return { rows, isComplete: read < limit, bytes: null, weeks: null }
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

const COUNT = 'SELECT count(*) AS read, coalesce(sum(goes), 0) AS rows'

/** Index: primary keys; outcome_ended_badly, delivery_refused, known_file_gone. */
function prepareCounts(db: Connection) {
  const isOld = `status IN ${FINISHED.runs} AND finished_at < @before`
  const isOldToo = isOld.replace(/(status|finished_at)/g, 'run.$1')
  return {
    // A folded run goes only if the run that absorbed it is gone by then.
    runs: db.prepare<[{ before: number; below: string; limit: number }], Counted>(
      `${COUNT} FROM (SELECT CASE WHEN ${isOld} THEN folded_into IS NULL OR NOT EXISTS (
           ${selectAbsorber('old.folded_into')} AND NOT (run.id < old.run_id AND ${isOldToo})
         ) ELSE 0 END AS goes FROM outcome AS old WHERE run_id > '' AND run_id < @below ORDER BY run_id LIMIT @limit)`,
    ),
    failures: db.prepare<[{ status: string; before: number; below: string; limit: number }], Counted>(
      `${COUNT} FROM (SELECT finished_at < @before AS goes FROM outcome INDEXED BY outcome_ended_badly
         WHERE status IN ${FINISHED.failures} AND status = @status AND run_id < @below ORDER BY run_id LIMIT @limit)`,
    ),
    verdicts: db.prepare<[], string>('SELECT verdict FROM refusal_tally').pluck(),
    refusals: db.prepare<[string, string, number], Counted>(
      `${COUNT} FROM (SELECT 1 AS goes FROM delivery INDEXED BY delivery_refused
         WHERE event_id IS NULL AND verdict = ? AND id < ? LIMIT ?)`,
    ),
    deliveries: db.prepare<[string, number], Counted>(
      `${COUNT} FROM (SELECT NOT (${REFUSED}) AS goes FROM delivery WHERE id > '' AND id < ? ORDER BY id LIMIT ?)`,
    ),
    events: db.prepare<[number, number], OldEvent>(OLD_EVENTS),
    mark: db.prepare<[string], number>(PRUNE_MARK).pluck(),
    audit: db.prepare<[string, number], Counted>(
      `${COUNT} FROM (SELECT 1 AS goes FROM audit WHERE id < ? AND target IS NOT '${LASTING_TARGET}'
         ORDER BY id LIMIT ?)`,
    ),
    effects: db.prepare<[number, number], Counted>(
      `${COUNT} FROM (SELECT 1 AS goes FROM effect WHERE seq <= ? ORDER BY seq LIMIT ?)`,
    ),
    gone: db.prepare<[{ before: number; limit: number }], number>(SWEEP_SQL.countGone).pluck(),
    told: db.prepare<[{ before: number; limit: number }], ToldOf>(SWEEP_SQL.toldOf),
    sweeps: db.prepare<[], SweepRow>(SWEEP_SQL.list),
  }
}
