import {
  type AdmissionAnswer,
  type AdmissionPlan,
  type AdmissionVerdict,
  computeDue,
  describeGathering,
  type Fold,
  type Gate,
} from '../../../core/runs/admission.ts'
import type { Lease } from '../../../core/runs/lease.ts'
import { isoTime } from '../../../core/time.ts'
import type { Connection } from '../../connection.ts'
import { type Applicant, type Gathering, isFull } from '../../rows/limits/gathering.ts'
import type { Standing } from '../../rows/limits/standing.ts'
import type { WaitTable } from '../waits/wait-table.ts'
import type { GateTable } from './gate-table.ts'

/**
 * Decides about limited runs: which joins another, which waits in line, which starts. Each call
 * runs within one transaction.
 */
export class Admission {
  readonly #gates: GateTable
  readonly #waits
  readonly #runs
  readonly #gatherings

  constructor(db: Connection, gates: GateTable, waits: Pick<WaitTable, 'cancel' | 'runEnded'>) {
    this.#gates = gates
    this.#waits = waits
    this.#runs = prepareRuns(db)
    this.#gatherings = prepareGatherings(db)
  }

  /** Null when the lease is stale. */
  async decide(lease: Lease, plan: AdmissionPlan, now: number): Promise<AdmissionAnswer | null> {
    const run = await this.#runs.find.get(lease)
    if (!run) return null
    // Before the first admission of a limited run, `started_at` is only the moment of a claim.
    const hasStarted = plan.hasStarted || (run.gate_state !== null && run.started_at !== null)
    // A throttle counts first starts only, so a run that started keeps its other gates.
    const gates = hasStarted ? plan.gates.filter((gate) => gate.name !== 'throttle') : plan.gates
    await this.#runs.saveGates.run(JSON.stringify(gates), plan.priority, run.id)
    await this.#gates.saveRules(run.workflow, gates)
    await this.#gates.freePlaces(run.id)
    if (!hasStarted) return this.#decideFirst(run, plan, now)
    return {
      verdict: await this.#enterGates(run, { ...plan, gates, mayStart: true }, { now, hasStarted }),
      canceled: [],
    }
  }

  async #decideFirst(run: Applicant, plan: AdmissionPlan, now: number): Promise<AdmissionAnswer> {
    const { startBy, fold } = plan
    if (startBy !== null && now >= startBy) {
      const reason = `timeout: it had not started by ${isoTime(startBy)}`
      return { verdict: await this.#finish(run, { kind: 'canceled', reason }, now), canceled: [] }
    }
    const joined = fold ? await this.#join(run, fold, plan.wakeAt, now) : null
    if (joined) return { verdict: joined, canceled: [] }
    const singleton = plan.gates.find((gate) => gate.name === 'singleton')
    const above = singleton && (await this.#findHolderAbove(run, singleton))
    if (above) {
      const reason = `singleton: ${above} holds the place, and cannot end before this run, which it invoked`
      return { verdict: await this.#finish(run, { kind: 'skipped', reason }, now), canceled: [] }
    }
    const conflict = singleton && plan.onConflict !== 'queue' ? await this.#resolve(run, singleton, plan, now) : null
    if (conflict?.verdict) return { verdict: conflict.verdict, canceled: [] }
    return {
      verdict: await this.#enterGates(run, plan, { now, hasStarted: false }),
      canceled: conflict?.canceled ?? [],
    }
  }

  /** Takes the run through its gates, or puts it in line at one of them. */
  async #enterGates(
    run: Applicant,
    { gates, priority, wakeAt, mayStart }: AdmissionPlan,
    { now, hasStarted }: { now: number; hasStarted: boolean },
  ): Promise<AdmissionVerdict> {
    const { id, workflow } = run
    for (const gate of gates) if (gate.name === 'throttle') await this.#gates.expireStarts(workflow, gate, now)
    const standing = await this.#gates.pass({ runId: id, workflow, priority, gates, wakeAt })
    if (standing) return this.#standInLine(run, standing, hasStarted)
    if (!mayStart) {
      await this.#runs.admitPending.run(id)
      return { kind: 'ready' }
    }
    const startedAt = hasStarted ? (run.started_at ?? now) : now
    await this.#runs.admit.run(startedAt, id)
    await this.#gates.start(workflow, id, now)
    return { kind: 'admitted', startedAt, folded: run.folded ?? 0 }
  }

  async #standInLine(
    { id, started_at }: Applicant,
    { dueAt, reason }: Standing,
    hasStarted: boolean,
  ): Promise<AdmissionVerdict> {
    await this.#runs.putInLine.run({ id, dueAt, reason, startedAt: hasStarted ? started_at : null })
    return { kind: 'queued', dueAt, reason }
  }

  async #finish(
    { id }: Applicant,
    verdict: AdmissionVerdict & { kind: 'skipped' | 'canceled' },
    now: number,
    foldedInto: string | null = null,
  ): Promise<AdmissionVerdict> {
    await this.#runs.end.run({ id, ...verdict, now, foldedInto })
    await this.#waits.runEnded(id, now)
    return verdict
  }

  /** The holder of a singleton's place if it invoked this run, directly or not; else null. */
  async #findHolderAbove(run: Applicant, gate: Gate): Promise<string | null> {
    if (run.depth === 0) return null
    const holder = await this.#gates.findHolder(run.workflow, gate, run.id)
    return holder !== null && (await this.#runs.isAbove.get(run.id, holder)) === 1 ? holder : null
  }

  /** Resolves a singleton's conflict with another unfinished run; empty where there is none. */
  async #resolve(
    run: Applicant,
    gate: Gate,
    { onConflict }: AdmissionPlan,
    now: number,
  ): Promise<{ verdict?: AdmissionVerdict; canceled?: string[] }> {
    const holder = await this.#gates.findHolder(run.workflow, gate, run.id)
    if (holder === null) return {}
    if (onConflict === 'skip') {
      return {
        verdict: await this.#finish(run, { kind: 'skipped', reason: `singleton: ${holder} is unfinished` }, now),
      }
    }
    if (holder > run.id) {
      const reason = `singleton: the newer ${holder} is unfinished`
      return { verdict: await this.#finish(run, { kind: 'canceled', reason }, now) }
    }
    return { canceled: await this.#waits.cancel(holder, `singleton: replaced by ${run.id}`, now, true) }
  }

  /** Gathers, or joins the run that gathers; null when this run has gathered all its events. */
  async #join(run: Applicant, fold: Fold, wakeAt: number | null, now: number): Promise<AdmissionVerdict | null> {
    const open = await this.#gatherings.find.get(run.workflow, fold.key)
    if (open?.run_id === run.id) return this.#keepGathering(run, fold, open, now)
    if (run.folded !== null) {
      await this.#gatherings.close.run(run.id)
      return null
    }
    if (!open) return this.#openGathering(run, fold, { since: now, folded: 0, wakeAt, now })
    if (fold.kind === 'batch') return this.#foldInto(run, fold, open, now)
    // A worker has claimed the gathering run because it is due: it starts with what it has.
    if (open.status === 'running') {
      await this.#gatherings.close.run(open.run_id)
      return this.#openGathering(run, fold, { since: now, folded: 0, wakeAt, now })
    }
    if ((open.event_seq ?? 0) > (run.event_seq ?? 0)) return this.#foldInto(run, fold, open, now)
    await this.#runs.absorb.run(`folded into ${run.id}`, now, run.id, open.run_id)
    await this.#waits.runEnded(open.run_id, now)
    return this.#openGathering(run, fold, { since: open.since, folded: open.folded + 1, wakeAt, now })
  }

  async #keepGathering(run: Applicant, fold: Fold, open: Gathering, now: number): Promise<AdmissionVerdict | null> {
    if (now >= open.due_at || isFull(fold, open.folded)) {
      await this.#gatherings.close.run(run.id)
      return null
    }
    return this.#standInLine(run, describe(fold, open), false)
  }

  async #openGathering(
    run: Applicant,
    fold: Fold,
    { since, folded, wakeAt, now }: { since: number; folded: number; wakeAt: number | null; now: number },
  ): Promise<AdmissionVerdict | null> {
    // A run that a person retries or resumes may have gathered events before.
    const all = folded > 0 ? folded : ((await this.#runs.countFolded.get(run.id)) ?? 0)
    await this.#runs.setFolded.run(all, run.id)
    run.folded = all
    if (isFull(fold, all)) return null
    const dueAt = computeDue(fold, { since, now })
    await this.#gatherings.open.run(run.workflow, fold.key, run.id, since, dueAt, wakeAt)
    return this.#standInLine(run, describe(fold, { due_at: dueAt, wake_at: wakeAt, folded: all }), false)
  }

  async #foldInto(run: Applicant, fold: Fold, open: Gathering, now: number): Promise<AdmissionVerdict> {
    const folded = open.folded + 1 + ((await this.#runs.countFolded.get(run.id)) ?? 0)
    await this.#runs.setFolded.run(folded, open.run_id)
    const verdict = await this.#finish(run, { kind: 'skipped', reason: `folded into ${open.run_id}` }, now, open.run_id)
    if (isFull(fold, folded)) {
      await this.#gatherings.close.run(open.run_id)
      await this.#gates.moveOn(open.run_id, open.wake_at)
      return verdict
    }
    const due_at = computeDue(fold, { since: open.since, now })
    if (due_at !== open.due_at) await this.#gatherings.postpone.run(due_at, run.workflow, fold.key)
    await this.#runs.updateInLine.run({ id: open.run_id, ...describe(fold, { ...open, due_at, folded }) })
    return verdict
  }
}

/** Index: primary key of run, except where one is named. */
function prepareRuns(db: Connection) {
  return {
    find: db.prepare<Lease, Applicant>(
      `SELECT id, workflow, event_seq, started_at, gate_state, folded, depth FROM run
       WHERE id = @runId AND fence = @fence AND status = 'running'`,
    ),
    saveGates: db.prepare(`UPDATE run SET gates = ?, priority = ?, gate_state = 'outside' WHERE id = ?`),
    admit: db.prepare(`UPDATE run SET gate_state = 'admitted', started_at = ? WHERE id = ?`),
    admitPending: db.prepare(
      `UPDATE run SET status = 'pending', gate_state = 'admitted', worker = NULL, started_at = NULL WHERE id = ?`,
    ),
    putInLine: db.prepare(
      `UPDATE run SET status = 'waiting', gate_state = 'in_line', worker = NULL, started_at = @startedAt,
         due_at = @dueAt, reason = @reason
       WHERE id = @id`,
    ),
    updateInLine: db.prepare(
      `UPDATE run SET reason = @reason, due_at = @dueAt
       WHERE id = @id AND status = 'waiting' AND gate_state = 'in_line'`,
    ),
    end: db.prepare(
      `UPDATE run SET status = @kind, reason = @reason, worker = NULL, started_at = NULL, finished_at = @now,
         folded_into = @foldedInto, by_rule = (@kind = 'canceled')
       WHERE id = @id`,
    ),
    absorb: db.prepare(
      `UPDATE run SET status = 'skipped', reason = ?, fence = fence + 1, worker = NULL, due_at = NULL, finished_at = ?,
         folded_into = ? WHERE id = ?`,
    ),
    // Index: primary key, once per level.
    isAbove: db
      .prepare<[string, string], number>(
        `WITH RECURSIVE above (id) AS (SELECT parent_run FROM run WHERE id = ?
           UNION SELECT parent_run FROM above JOIN run USING (id) WHERE parent_run IS NOT NULL)
         SELECT EXISTS (SELECT 1 FROM above WHERE id = ?)`,
      )
      .pluck(),
    setFolded: db.prepare('UPDATE run SET folded = ? WHERE id = ?'),
    // Index: run_folded, once per level.
    countFolded: db
      .prepare<[string], number>(
        `WITH RECURSIVE folded (id) AS (SELECT id FROM run WHERE folded_into = ?
           UNION SELECT run.id FROM folded JOIN run ON run.folded_into = folded.id)
         SELECT count(*) FROM folded`,
      )
      .pluck(),
  }
}

/** Index: primary keys of gathering and run; gathering_run to close one. */
function prepareGatherings(db: Connection) {
  return {
    find: db.prepare<[string, string], Gathering>(
      `SELECT run_id, since, gathering.due_at, wake_at, status, event_seq, coalesce(folded, 0) AS folded
       FROM gathering JOIN run ON run.id = run_id WHERE gathering.workflow = ? AND key = ?`,
    ),
    open: db.prepare(
      `INSERT INTO gathering (workflow, key, run_id, since, due_at, wake_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (workflow, key) DO UPDATE SET run_id = excluded.run_id, since = excluded.since,
         due_at = excluded.due_at, wake_at = excluded.wake_at`,
    ),
    close: db.prepare('DELETE FROM gathering WHERE run_id = ?'),
    postpone: db.prepare('UPDATE gathering SET due_at = ? WHERE workflow = ? AND key = ?'),
  }
}

function describe(fold: Fold, { due_at, wake_at, folded }: Pick<Gathering, 'due_at' | 'wake_at' | 'folded'>): Standing {
  const reason = describeGathering(fold, { gathered: folded + 1, dueAt: due_at })
  return { reason, dueAt: wake_at === null ? due_at : Math.min(due_at, wake_at) }
}
