import { UNADMITTED_PRIORITY } from '../../../core/runs/admission.ts'
import { TRIED_ALONE } from '../../../core/runs/blame.ts'
import type { ClaimedRun } from '../../../core/runs/claim.ts'
import { JoinedTable, Table } from '../../connection.ts'
import {
  type ClaimReader,
  type ClaimRow,
  claimColumns,
  IS_READY,
  joinEvent,
  prepareFirstClaimable,
} from '../../tables/runs/claim-reader.ts'
import { DueShare } from '../../tables/runs/due-share.ts'
import type { WorkflowTable } from '../../tables/runs/workflow-table.ts'
import type { SqliteConnection } from '../database/connection.ts'

/** Runs of paused workflows that one claim holds at most; the next claim goes on. */
const MAX_HELD = 500

/** Suspects that a claim looks at, for the first that is not another worker's. */
const MAX_SUSPECTS = 100

export class Claims extends JoinedTable<{ reader: ClaimReader; workflows: WorkflowTable }, SqliteConnection> {
  /** Statements that find runs to claim, and claim one. */
  readonly #sql = {
    // Index: work_waiting.
    due: this.db.pluck<
      [number, number],
      string
    >(`SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= ?
         ORDER BY due_at LIMIT ?`),
    // Index: work_ready, in its order.
    ready: this.db.pluck<[number], string>(`SELECT run_id FROM work WHERE ${IS_READY} ORDER BY turn, run_id LIMIT ?`),
    // Index: work_suspect, in its order.
    suspects: this.db.pluck<
      [number],
      string
    >(`SELECT run_id FROM work WHERE status = 'pending' AND suspicion >= ${TRIED_ALONE}
         ORDER BY turn, run_id LIMIT ?`),
    // Index: work_ready, its first rows.
    unadmitted: this.db.pluck<
      [number],
      string
    >(`SELECT run_id FROM work WHERE ${IS_READY} AND turn <= ${-2 * UNADMITTED_PRIORITY}
         ORDER BY turn, run_id LIMIT ?`),
    // Index: primary key, and the first rows of work_ready, without those that are not admitted.
    isNext: this.db.pluck<
      [string],
      number
    >(`SELECT 1 FROM work AS next WHERE run_id = ? AND ${IS_READY} AND NOT EXISTS (
           SELECT 1 FROM work WHERE ${IS_READY} AND turn > ${-2 * UNADMITTED_PRIORITY} AND turn < next.turn)`),
    // Index: primary keys. A limited run starts when it is admitted, not when it is claimed. One
    // that was made while the claim waited for the writer starts then.
    claim: this.db.prepare<[string, number, string]>(
      `UPDATE work SET status = 'running', worker = ?, fence = fence + 1, due_at = NULL, reason = NULL, awaits = 0,
         started_at = CASE WHEN gate_state IN ('in_line', 'outside') THEN started_at
           ELSE coalesce(started_at, max(?, (SELECT created_at FROM run WHERE id = run_id))) END,
         gate_state = CASE gate_state WHEN 'in_line' THEN 'outside' ELSE gate_state END
       WHERE run_id = ?`,
    ),
    claimed: this.db.prepare<[string], ClaimRow>(
      `SELECT ${claimColumns(this.db.sql)} FROM ${joinEvent('run', this.db.sql)}
         JOIN work ON work.run_id = run.id WHERE run.id = ?`,
    ),
    workflowOf: this.db.pluck<[string], string>('SELECT workflow FROM work WHERE run_id = ?'),
    // Index: primary key. Asked at each claim, and empty where one worker is at work.
    otherSet: this.db.pluck<[string], number>('SELECT 1 FROM worker_workflow WHERE worker <> ? LIMIT 1'),
    elsewhere: this.db.pluck<
      [string, string],
      string
    >(`SELECT workflow FROM worker_workflow AS theirs WHERE worker <> ? AND NOT EXISTS (
           SELECT 1 FROM worker_workflow WHERE worker = ? AND workflow = theirs.workflow)`),
  }
  readonly #whole: Queue = {
    due: (now, limit) => this.#sql.due.all(now, limit),
    ready: (limit) => this.#sql.ready.all(limit),
  }
  readonly #partial = new PartialQueue(this.db)
  readonly #dueShare = new DueShare()
  /** The first run that a claim would give the worker; null: none. */
  readonly findClaimable = prepareFirstClaimable(this.db)

  async claim(worker: string, limit: number, now: number): Promise<ClaimedRun[]> {
    const foreign = await this.#elsewhere(worker)
    const queue = foreign.length === 0 ? this.#whole : this.#partial.without(JSON.stringify(foreign))
    const isDueLast = this.#dueShare.isUsed
    let isFilled = false
    const claimable = async () => {
      const due = await queue.due(now, limit)
      isFilled = !isDueLast && due.length >= limit
      if (isFilled) return due
      const ready = await queue.ready(isDueLast ? limit : limit - due.length)
      return isDueLast ? [...ready, ...due].slice(0, limit) : [...due, ...ready]
    }
    const claimed = await this.#claimAll(claimable, worker, now)
    this.#dueShare.note(isFilled)
    return claimed
  }

  /** Claims a run that an end has let in; none where another one comes before it. */
  async claimNext(worker: string, id: string, now: number): Promise<ClaimedRun[]> {
    const isNext = (await this.#sql.isNext.get(id)) !== undefined
    const isPaused = isNext && (await this.parts.workflows.paused()).has((await this.#sql.workflowOf.get(id)) ?? '')
    return isNext && !isPaused ? this.#claimAll(async () => [id], worker, now) : []
  }

  async claimUnadmitted(worker: string, limit: number, now: number): Promise<ClaimedRun[]> {
    return this.#claimAll(async () => this.#leaveForeign(worker, await this.#sql.unadmitted.all(limit)), worker, now)
  }

  async claimSuspects(worker: string, limit: number, now: number): Promise<ClaimedRun[]> {
    return this.#claimAll(
      async () => (await this.#leaveForeign(worker, await this.#sql.suspects.all(MAX_SUSPECTS))).slice(0, limit),
      worker,
      now,
    )
  }

  /** Without the runs that only another worker at work has the code for. */
  async #leaveForeign(worker: string, ids: string[]): Promise<string[]> {
    const foreign = ids.length === 0 ? [] : await this.#elsewhere(worker)
    if (foreign.length === 0) return ids
    const own = await Array.fromAsync(ids, async (id) => !foreign.includes((await this.#sql.workflowOf.get(id)) ?? ''))
    return ids.filter((_, at) => own[at])
  }

  /**
   * Holds runs of paused workflows until none is at the head of the queue, up to `MAX_HELD`. False
   * where some may be left there.
   */
  async #holdPaused(claimable: () => Promise<string[]>): Promise<boolean> {
    const paused = await this.parts.workflows.paused()
    if (paused.size === 0) return true
    for (let held = 0; held < MAX_HELD; ) {
      const before = held
      for (const id of await claimable()) {
        if (paused.has((await this.#sql.workflowOf.get(id)) ?? '') && (await this.parts.workflows.hold(id))) held += 1
      }
      if (held === before) return true
    }
    return false
  }

  async #claimAll(claimable: () => Promise<string[]>, worker: string, now: number): Promise<ClaimedRun[]> {
    if (!(await this.#holdPaused(claimable))) return []
    const rows: ClaimRow[] = []
    for (const id of await claimable()) {
      await this.#sql.claim.run(worker, now, id)
      const row = await this.#sql.claimed.get(id)
      if (row) rows.push(row)
    }
    return this.parts.reader.read(rows, () => ({ worker, now }))
  }

  /** Workflows that other workers have and this one lacks. A dead worker takes its set with it. */
  async #elsewhere(worker: string): Promise<string[]> {
    return (await this.#sql.otherSet.get(worker)) === undefined ? [] : await this.#sql.elsewhere.all(worker, worker)
  }
}

/** The runs that a worker may claim, as ids in their order. */
interface Queue {
  due(now: number, limit: number): Promise<string[]>
  ready(limit: number): Promise<string[]>
}

/** Ids that one look finds beyond those asked for, so that the next claims need no look. */
const LOOK_AHEAD = 200
/** A look that took 1 ms is repeated after 20 ms. Looks then take at most 5 % of the time. */
const REST = 20

/**
 * The queue of a worker that lacks workflows of others at work. It leaves their runs to them, and
 * looks past any number of those. See decision 39.
 */
class PartialQueue extends Table {
  // Index: work_waiting.
  readonly #due = this.db.pluck<[number, string, number], string>(
    `SELECT run_id FROM work WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= ?
       AND workflow NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT ?`,
  )
  // Index: work_ready, in its order.
  readonly #ready = this.db.pluck<[string, number], string>(
    `SELECT run_id FROM work WHERE ${IS_READY} AND workflow NOT IN (SELECT value FROM json_each(?))
     ORDER BY turn, run_id LIMIT ?`,
  )
  // Index: primary key.
  readonly #isReady = this.db.pluck<[string], number>(`SELECT 1 FROM work WHERE run_id = ? AND ${IS_READY}`)
  #ahead: { foreign: string; ids: string[] } = { foreign: '', ids: [] }
  #restsUntil = 0

  /** `foreign`: JSON of the workflows that only others have. */
  without(foreign: string): Queue {
    return {
      due: (now, limit) => this.#due.all(now, foreign, limit),
      ready: (limit) => this.#listReady(limit, foreign),
    }
  }

  async #listReady(limit: number, foreign: string): Promise<string[]> {
    if (this.#ahead.foreign !== foreign) this.#ahead = { foreign, ids: [] }
    const isReady = await Array.fromAsync(this.#ahead.ids, async (id) => (await this.#isReady.get(id)) !== undefined)
    this.#ahead.ids = this.#ahead.ids.filter((_, at) => isReady[at])
    if (this.#ahead.ids.length < limit && performance.now() >= this.#restsUntil) await this.#look(limit, foreign)
    return this.#ahead.ids.slice(0, limit)
  }

  async #look(limit: number, foreign: string): Promise<void> {
    const began = performance.now()
    this.#ahead.ids = await this.#ready.all(foreign, limit + LOOK_AHEAD)
    const endedAt = performance.now()
    this.#restsUntil = endedAt + REST * (endedAt - began)
  }
}
