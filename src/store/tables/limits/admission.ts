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
import { describeStale } from '../../../core/runs/lease.ts'
import { isoTime } from '../../../core/time.ts'
import { JoinedTable } from '../../connection.ts'
import { type Applicant, type Gathering, isFull } from '../../rows/gathering.ts'
import type { GateTable, Standing } from '../gates/gate-table.ts'
import type { AnnotationTable } from '../runs/annotation-table.ts'
import type { RunTable } from '../runs/run-table.ts'
import type { WaitTable } from '../waits/wait-table.ts'

/**
 * Decides about limited runs: which joins another, which waits in line, which starts. Each call
 * runs within one transaction.
 */
export class Admission extends JoinedTable<{
  gates: GateTable
  runs: RunTable
  annotations: AnnotationTable
  waits: WaitTable
}> {
  /** Index: primary keys of work and run, except where one is named. */
  readonly #runs = {
    find: this.db.prepare<Lease, Applicant>(
      `SELECT work.run_id AS id, work.workflow, event_seq, run.created_at, started_at, gate_state, folded, depth
       FROM work JOIN run ON run.id = work.run_id
       WHERE work.run_id = @runId AND fence = @fence AND status = 'running' ${this.db.sql.forUpdate('work')}`,
    ),
    saveGates: this.db.prepare(`UPDATE work SET gates = ?, rank = ?, gate_state = 'outside' WHERE run_id = ?`),
    letIn: this.db.prepare('UPDATE work SET rank = ? WHERE run_id = ?'),
    letInLater: this.db.prepare(
      `UPDATE work SET rank = ?, status = 'pending', worker = NULL, started_at = NULL WHERE run_id = ?`,
    ),
    admit: this.db.prepare(`UPDATE work SET gate_state = 'admitted', started_at = ? WHERE run_id = ?`),
    admitPending: this.db.prepare(
      `UPDATE work SET status = 'pending', gate_state = 'admitted', worker = NULL, started_at = NULL WHERE run_id = ?`,
    ),
    putInLine: this.db.prepare(
      `UPDATE work SET status = 'waiting', gate_state = 'in_line', worker = NULL, started_at = @startedAt,
         due_at = @dueAt, reason = @reason
       WHERE run_id = @id`,
    ),
    updateInLine: this.db.prepare(
      `UPDATE work SET reason = @reason, due_at = @dueAt
       WHERE run_id = @id AND status = 'waiting' AND gate_state = 'in_line'`,
    ),
    // Index: primary key, once per level.
    isAbove: this.db.pluck<
      [string, string],
      number
    >(`WITH RECURSIVE above (id) AS (SELECT parent_run FROM run WHERE id = ?
           UNION SELECT (SELECT parent_run FROM run WHERE id = above.id) FROM above WHERE id IS NOT NULL)
         SELECT 1 FROM above WHERE id = ?`),
    workflowOf: this.db.pluck<[string], string>('SELECT workflow FROM run WHERE id = ?'),
    setFolded: this.db.prepare('UPDATE work SET folded = ? WHERE run_id = ?'),
  }
  /** Index: primary keys of gathering and run; gathering_run to close one. */
  readonly #gatherings = {
    find: this.db.prepare<[string, string], Gathering>(
      `SELECT gathering.run_id, since, gathering.due_at, wake_at, status, event_seq, first_run,
         coalesce(folded, 0) AS folded
       FROM gathering JOIN work ON work.run_id = gathering.run_id JOIN run ON run.id = gathering.run_id
       WHERE gathering.workflow = ? AND key = ? ${this.db.sql.forUpdate('work')}`,
    ),
    open: this.db.prepare(
      `INSERT INTO gathering (workflow, key, run_id, since, due_at, wake_at, first_run) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (workflow, key) DO UPDATE SET run_id = excluded.run_id, since = excluded.since,
         due_at = excluded.due_at, wake_at = excluded.wake_at, first_run = excluded.first_run`,
    ),
    close: this.db.prepare('DELETE FROM gathering WHERE run_id = ?'),
    postpone: this.db.prepare('UPDATE gathering SET due_at = ? WHERE workflow = ? AND key = ?'),
  }

  /**
   * Decides whether a run goes on, queues, is skipped or is folded, and writes that. A freed slot
   * goes to the first run in line in the commit that frees it.
   */
  async admitRun(lease: Lease, plan: AdmissionPlan, now: number): Promise<AdmissionAnswer> {
    if (!plan.hasStarted) await this.#lockOthers(lease, plan)
    const run = await this.#runs.find.get(lease)
    if (!run) throw describeStale(lease)
    if (plan.tags) await this.parts.annotations.saveTags(run.id, plan.tags)
    if (plan.isOnlyTagged) return { verdict: await this.#letIn(run, plan), canceled: [] }
    // Before the first admission of a limited run, `started_at` is only the moment of a claim.
    const hasStarted = plan.hasStarted || (run.gateState !== null && run.startedAt !== null)
    // A throttle counts first starts only, so a run that started keeps its other gates.
    const gates = hasStarted ? plan.gates.filter((gate) => gate.name !== 'throttle') : plan.gates
    await this.#runs.saveGates.run(JSON.stringify(gates), -plan.priority, run.id)
    await this.parts.gates.saveRules(run.workflow, gates)
    await this.parts.gates.freePlaces(run.id)
    if (!hasStarted) return await this.#decideFirst(run, plan, now)
    return {
      verdict: await this.#enterGates(run, { ...plan, gates, mayStart: true }, { now, hasStarted }),
      canceled: [],
    }
  }

  /**
   * Before the row of the run: it may gather, or hold a slot, and others lock it behind this. So is
   * the run that it may end, behind its own gates.
   */
  async #lockOthers({ runId }: Lease, { startBy, fold, gates, onConflict }: AdmissionPlan): Promise<void> {
    const singleton = gates.find(({ name }) => name === 'singleton')
    if (startBy === null && !fold && !singleton) return
    const workflow = (await this.#runs.workflowOf.get(runId)) ?? ''
    if (fold) await this.db.lock(['fold', workflow, fold.key])
    if (!singleton || onConflict !== 'cancel') return this.parts.runs.lockToEnd([runId])
    await this.db.lock(['replace', workflow, singleton.key])
    const holder = await this.parts.gates.readHolder(workflow, singleton, runId)
    await this.parts.runs.lockTrees(holder === null ? [runId] : [runId, holder])
  }

  /** A run without limits: it has no gate later either, so that its row is that of any such run. */
  async #letIn({ id, startedAt }: Applicant, { priority, mayStart }: AdmissionPlan): Promise<AdmissionVerdict> {
    await (mayStart ? this.#runs.letIn : this.#runs.letInLater).run(-priority, id)
    return mayStart ? { kind: 'admitted', startedAt: startedAt ?? 0, folded: 0 } : { kind: 'ready' }
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
      const reason = `singleton: ${above} holds the slot, and cannot end before this run, which it invoked`
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
    for (const gate of gates) if (gate.name === 'throttle') await this.parts.gates.expireStarts(workflow, gate, now)
    const standing = await this.parts.gates.pass({ runId: id, workflow, priority, gates, wakeAt }, now)
    if (standing) return await this.#standInLine(run, standing, hasStarted)
    if (!mayStart) {
      await this.#runs.admitPending.run(id)
      return { kind: 'ready' }
    }
    const startedAt = (hasStarted ? run.startedAt : null) ?? Math.max(now, run.createdAt)
    await this.#runs.admit.run(startedAt, id)
    await this.parts.gates.start(id, now)
    return { kind: 'admitted', startedAt, folded: run.folded ?? 0 }
  }

  async #standInLine(
    { id, startedAt }: Applicant,
    { dueAt, reason }: Standing,
    hasStarted: boolean,
  ): Promise<AdmissionVerdict> {
    await this.#runs.putInLine.run({ id, dueAt, reason, startedAt: hasStarted ? startedAt : null })
    return { kind: 'queued', dueAt, reason }
  }

  async #finish(
    { id }: Applicant,
    verdict: AdmissionVerdict & { kind: 'skipped' | 'canceled' },
    now: number,
    foldedInto: string | null = null,
  ): Promise<AdmissionVerdict> {
    const { kind: status, reason } = verdict
    const byRule = status === 'canceled'
    await this.parts.runs.endAny(id, { status, reason, byRule, foldedInto, isStarted: false }, now)
    await this.parts.waits.runEnded(id, now)
    return verdict
  }

  /** The holder of a singleton's slot if it invoked this run, directly or not; else null. */
  async #findHolderAbove(run: Applicant, gate: Gate): Promise<string | null> {
    if (run.depth === 0) return null
    const holder = await this.parts.gates.findHolder(run.workflow, gate, run.id)
    return holder !== null && (await this.#runs.isAbove.get(run.id, holder)) === 1 ? holder : null
  }

  /** Resolves a singleton's conflict with another unfinished run; empty where there is none. */
  async #resolve(
    run: Applicant,
    gate: Gate,
    { onConflict }: AdmissionPlan,
    now: number,
  ): Promise<{ verdict?: AdmissionVerdict; canceled?: string[] }> {
    const holder = await this.parts.gates.findHolder(run.workflow, gate, run.id)
    if (holder === null) return {}
    if (onConflict === 'skip') {
      return {
        verdict: await this.#finish(run, { kind: 'skipped', reason: `singleton: ${holder} is unfinished` }, now),
      }
    }
    const { id, createdAt } = run
    if (!(await this.parts.gates.isOlder({ holder, id, createdAt }))) {
      const reason = `singleton: the newer ${holder} is unfinished`
      return { verdict: await this.#finish(run, { kind: 'canceled', reason }, now) }
    }
    return { canceled: await this.parts.waits.cancel(holder, `singleton: replaced by ${run.id}`, now, true) }
  }

  /** Gathers, or joins the run that gathers; null when this run has gathered all its events. */
  async #join(run: Applicant, fold: Fold, wakeAt: number | null, now: number): Promise<AdmissionVerdict | null> {
    const open = await this.#gatherings.find.get(run.workflow, fold.key)
    if (open?.runId === run.id) return await this.#keepGathering(run, fold, open, now)
    if (run.folded !== null) {
      await this.#gatherings.close.run(run.id)
      return null
    }
    if (open && fold.kind === 'batch') return await this.#foldInto(run, fold, open, now)
    // A worker has claimed the gathering run because it is due: it starts with what it has.
    if (!open || open.status === 'running')
      return await this.#openGathering(run, fold, { since: now, folded: 0, firstRun: null, wakeAt, now })
    if ((open.eventSeq ?? 0) > (run.eventSeq ?? 0)) return await this.#foldInto(run, fold, open, now)
    await this.parts.runs.lockTrees([open.runId])
    // The first one points to the newest, and the others to the first. Along a chain from each to
    // the next, a prune of thousands would take minutes.
    const { firstRun } = open
    const isMoved = firstRun !== null && (await this.parts.runs.foldAnew(firstRun, { from: open.runId, to: run.id }))
    const foldedInto = isMoved ? firstRun : run.id
    const ending = { status: 'skipped', reason: `folded into ${run.id}`, foldedInto, isTaken: true } as const
    await this.parts.runs.endAny(open.runId, ending, now)
    await this.parts.waits.runEnded(open.runId, now)
    return await this.#openGathering(run, fold, {
      since: Math.min(open.since, now),
      folded: open.folded + 1,
      firstRun: isMoved ? firstRun : open.runId,
      wakeAt,
      now,
    })
  }

  async #keepGathering(run: Applicant, fold: Fold, open: Gathering, now: number): Promise<AdmissionVerdict | null> {
    if (now >= open.dueAt || isFull(fold, open.folded)) {
      await this.#gatherings.close.run(run.id)
      return null
    }
    return await this.#standInLine(run, describe(fold, open), false)
  }

  async #openGathering(
    run: Applicant,
    fold: Fold,
    {
      since,
      folded,
      firstRun,
      wakeAt,
      now,
    }: Pick<Gathering, 'since' | 'folded' | 'firstRun' | 'wakeAt'> & { now: number },
  ): Promise<AdmissionVerdict | null> {
    // A run that a person retries or resumes may have gathered events before.
    const all = folded > 0 ? folded : await this.parts.runs.countFolded(run.id)
    await this.#runs.setFolded.run(all, run.id)
    run.folded = all
    if (isFull(fold, all)) return null
    const dueAt = computeDue(fold, { since, now })
    await this.#gatherings.open.run(run.workflow, fold.key, run.id, since, dueAt, wakeAt, firstRun)
    return await this.#standInLine(run, describe(fold, { dueAt, wakeAt, folded: all }), false)
  }

  async #foldInto(run: Applicant, fold: Fold, open: Gathering, now: number): Promise<AdmissionVerdict> {
    const folded = open.folded + 1 + (await this.parts.runs.countFolded(run.id))
    await this.#runs.setFolded.run(folded, open.runId)
    const verdict = await this.#finish(run, { kind: 'skipped', reason: `folded into ${open.runId}` }, now, open.runId)
    if (isFull(fold, folded)) {
      await this.#gatherings.close.run(open.runId)
      await this.parts.gates.moveOn(open.runId, open.wakeAt)
      return verdict
    }
    const dueAt = computeDue(fold, { ...open, now })
    if (dueAt !== open.dueAt) await this.#gatherings.postpone.run(dueAt, run.workflow, fold.key)
    await this.#runs.updateInLine.run({ id: open.runId, ...describe(fold, { ...open, dueAt, folded }) })
    return verdict
  }
}

function describe(fold: Fold, { dueAt, wakeAt, folded }: Pick<Gathering, 'dueAt' | 'wakeAt' | 'folded'>): Standing {
  const reason = describeGathering(fold, { gathered: folded + 1, dueAt: dueAt })
  return { reason, dueAt: wakeAt === null ? dueAt : Math.min(dueAt, wakeAt) }
}
