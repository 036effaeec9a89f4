import { firstId } from '../../../core/ids.ts'
import type { PruneProgress, PruneSlice, WeekKind } from '../../../core/store/retention.ts'
import { type Connection, JoinedTable } from '../../connection.ts'
import { findHolder } from '../../rows/run-sql.ts'
import type { BulkTable } from '../bulk/bulk-table.ts'
import type { AuditTable } from '../safety/audit-table.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { SealTable } from '../safety/seal-table.ts'
import { FilePruning } from './file-pruning.ts'
import { countFitting, RestPruning } from './rest-pruning.ts'

interface OldRun {
  id: string
  workflow: string
  tickAt: number | null
  schedule: string | null
  foldedInto: string | null
  isOld: number
  /** Of its texts; 0 where it stays. */
  bytes: number
}

export const FINISHED = { runs: `('completed', 'skipped', 'planned')`, failures: `('failed', 'canceled')` } as const
export const REFUSED = `verdict NOT IN ('accepted', 'duplicate', 'conflict')`

interface OldRunsAsked {
  before: number
  after: string
  /** The first id that is not asked for. */
  edge: string
  limit: number
}

interface PrunedTables extends PruneDriver {
  audits: AuditTable
  bulks: Pick<BulkTable, 'prune'>
  effects: EffectTable
  seals: SealTable
}

/** Rows that a read looked at, and those of them that would go. */
export interface Counted {
  read: number
  rows: number
  bytes?: number
}

/** The moments between which the rows of a week lie; null: no bound. */
export interface Week {
  from: number | null
  to: number | null
}

/** The parts that each database prunes, and counts, in its own way. */
export interface PruneDriver {
  weeks: {
    /** The weeks of rows that go at once, oldest first. */
    list(kind: WeekKind): Promise<Week[]>
    measure(kind: WeekKind, weeks: readonly Week[]): Promise<number>
    /** Rows from this moment on go by the week, or not at all. */
    edge(kind: WeekKind): Promise<number>
  }
  /** Bodies that no unfinished run needs. Their events stay, to recognize a repetition. */
  bodies: {
    count(before: number, limit: number): Promise<Counted>
    prune(slice: PruneSlice): Promise<PruneProgress>
  }
}

/**
 * Deletes old rows, one small slice per call, except those of weeks that go at once. See decisions
 * 17 and 80.
 */
export class Pruning extends JoinedTable<PrunedTables> {
  readonly #files = new FilePruning(this.db)
  readonly #runs = prepareRuns(this.db)
  readonly #rests = new RestPruning(this.db)
  readonly #deliveries = prepareDeliveries(this.db)

  /** Removes rows older than the bound, in one small commit. */
  async prune(slice: PruneSlice): Promise<PruneProgress> {
    switch (slice.kind) {
      case 'runs':
      case 'failures':
        return this.#pruneRuns(slice, slice.kind)
      case 'refusals':
      case 'deliveries':
        return this.#pruneDeliveries(slice, slice.kind)
      case 'payloads':
        return this.parts.bodies.prune(slice)
      case 'audit':
        return this.#pruneAudit(slice)
      case 'effects':
        return this.#pruneEffects(slice)
      case 'files':
        return this.#files.prune(slice)
      default:
        return slice.kind satisfies never
    }
  }

  /** Deletes runs before their steps: a retry of a run with half a journal would repeat effects. */
  async #pruneRuns({ before, limit, after }: PruneSlice, kind: 'runs' | 'failures'): Promise<PruneProgress> {
    const rests = await this.#rests.prune(limit)
    if (rests >= limit) return { pruned: 0, next: after ?? '' }
    const edge = Math.min(before, await this.parts.weeks.edge('runs'))
    const asked = limit - rests
    const listed = await this.#runs.listOld[kind].all({
      before,
      after: after ?? '',
      edge: firstId('run', edge),
      limit: asked,
    })
    const found = listed.slice(0, countFitting(listed))
    const old = found.filter(({ isOld }) => isOld === 1)
    const { deleteEnds, deleteFolded } = this.#runs
    const gone = await deleteAll(
      deleteEnds,
      old.filter(({ foldedInto }) => foldedInto === null),
    )
    const freed = await deleteAll(
      deleteFolded,
      old.filter(({ foldedInto }) => foldedInto !== null),
    )
    const pruned = old.filter(({ id }) => gone.has(id) || freed.has(id))
    const left = pruned.length > 0 ? await this.#deleteRuns(pruned, asked - found.length) : false
    const isRest = left || listed.length === asked || found.length < listed.length
    return { pruned: pruned.length, next: isRest ? (found.at(-1)?.id ?? null) : null }
  }

  /** True where some of their steps are left. */
  async #deleteRuns(runs: readonly OldRun[], limit: number): Promise<boolean> {
    const ids = runs.map(({ id }) => id)
    await this.#rests.add(ids)
    await this.#runs.delete.run(ids)
    const ticks = runs.flatMap((run) => (run.tickAt === null ? [] : [{ ...run, tickAt: run.tickAt }]))
    for (const [name, ticked] of Map.groupBy(ticks, ({ schedule, workflow }) => schedule ?? workflow)) {
      const moments = ticked.map(({ tickAt }) => tickAt)
      await this.#runs.deleteTicks.run(name, moments, ids)
    }
    return (await this.#rests.prune(limit, ids)) >= limit
  }

  async #pruneDeliveries(
    { before, limit, after }: PruneSlice,
    kind: 'refusals' | 'deliveries',
  ): Promise<PruneProgress> {
    const edge = Math.min(before, await this.parts.weeks.edge('deliveries'))
    const found = await this.#deliveries.listOld[kind].all(after ?? '', firstId('dlv', edge), limit)
    const ofKind = found.filter((row) => row.isOfKind === 1)
    // Another process may have deleted some of them, and counted those.
    const gone = ofKind.length > 0 ? await this.#deliveries.delete.all(ofKind.map(({ id }) => id)) : []
    if (kind === 'refusals') {
      for (const [verdict, { length }] of Map.groupBy(gone, (each) => each)) {
        await this.#deliveries.countDropped.run({ length, verdict })
      }
    }
    return { pruned: gone.length, next: found.length < limit ? null : (found.at(-1)?.id ?? null) }
  }

  /** Operations on many runs and events go with what the audit log says of them. */
  async #pruneAudit({ before, limit }: PruneSlice): Promise<PruneProgress> {
    const pruned = await this.parts.audits.prune(before, limit)
    const { rows, isRest } = await this.parts.bulks.prune(before)
    return { pruned: pruned + rows, next: pruned < limit && !isRest ? null : '' }
  }

  /**
   * Deletes rows that a seal has named as pruned, and otherwise names the next ones. So the chain
   * tells at each moment which rows may be missing, whatever ends the process.
   */
  async #pruneEffects({ before, now = before, limit }: PruneSlice): Promise<PruneProgress> {
    await this.parts.seals.lock()
    const pruned = await this.parts.effects.prune(await this.parts.seals.prunedTo(), limit)
    if (pruned === limit) return { pruned, next: '' }
    const prunedTo = await this.parts.seals.findPrunable(before, limit)
    if (prunedTo === null) return { pruned, next: null }
    await this.parts.seals.append({ kind: 'pruned', at: now, prunedTo })
    await this.parts.effects.note({ at: now, phase: 'noted', operation: 'prune', outcome: `rows up to ${prunedTo}` })
    return { pruned, next: '' }
  }
}

/** Gives the runs that have gone. One that a person retries now has no end, and stays. */
async function deleteAll(statement: DeleteEnds, runs: readonly OldRun[]): Promise<Set<string>> {
  return new Set(runs.length === 0 ? [] : await statement.all(runs.map(({ id }) => id)))
}

type DeleteEnds = ReturnType<typeof prepareRuns>['deleteEnds']

/** Index: primary keys; the list goes from the oldest run on, as our ids sort by time. */
function prepareRuns(db: Connection) {
  const bytes = ['input', 'received', 'output'].map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ')
  const listOld = (statuses: string) => {
    const isOld = `status IN ${statuses} AND finished_at < @before`
    return db.prepare<[OldRunsAsked], OldRun>(
      `SELECT id, run.workflow, tick_at, schedule, folded_into,
         CASE WHEN ${isOld} THEN ${bytes} ELSE 0 END AS bytes, CASE WHEN ${isOld} THEN 1 ELSE 0 END AS is_old
       FROM run LEFT JOIN outcome ON outcome.run_id = run.id
       WHERE id > @after AND id < @edge ORDER BY id LIMIT @limit`,
    )
  }
  const { isOneOf } = db.sql
  return {
    listOld: { runs: listOld(FINISHED.runs), failures: listOld(FINISHED.failures) },
    deleteEnds: db.pluck<[string[]], string>(`DELETE FROM outcome WHERE ${isOneOf('run_id', 'text')} RETURNING run_id`),
    // A folded run stays for those that find its event by it. The older ones among them have just
    // lost their ends, or stay.
    deleteFolded: db.pluck<[string[]], string>(
      `DELETE FROM outcome WHERE ${isOneOf('run_id', 'text')}
         AND ${findHolder('outcome.folded_into', 'run.id > outcome.run_id OR run.status IS NOT NULL')} IS NULL
       RETURNING run_id`,
    ),
    delete: db.prepare<[string[]]>(`DELETE FROM run WHERE ${isOneOf('id', 'text')}`),
    deleteTicks: db.prepare<[string, number[], string[]]>(
      `DELETE FROM tick WHERE schedule = ? AND ${isOneOf('scheduled_for', 'bigint')} AND ${isOneOf('run_id', 'text')}`,
    ),
  }
}

/** Index: primary keys. */
function prepareDeliveries(db: Connection) {
  const listOld = (isOfKind: string) =>
    db.prepare<[string, string, number], { id: string; verdict: string; isOfKind: number }>(
      `SELECT id, verdict, CASE WHEN ${isOfKind} THEN 1 ELSE 0 END AS is_of_kind FROM delivery
       WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
    )
  return {
    listOld: { refusals: listOld(REFUSED), deliveries: listOld(`NOT (${REFUSED})`) },
    delete: db.pluck<[string[]], string>(
      `DELETE FROM delivery WHERE ${db.sql.isOneOf('id', 'text')} RETURNING verdict`,
    ),
    countDropped: db.prepare<[{ length: number; verdict: string }]>(
      `UPDATE refusal_tally SET listed = listed - @length, dropped = dropped + @length WHERE verdict = @verdict`,
    ),
  }
}
