import type { Database } from 'better-sqlite3'
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
import type { RunStatus } from '../../../core/runs/run.ts'
import { isoTime } from '../../../core/time.ts'
import type { WaitTable } from '../waits/wait-table.ts'
import type { GateTable, Standing } from './gate-table.ts'

/** The run that asks, as it is when it asks. */
interface Applicant {
  id: string
  workflow: string
  event_seq: number | null
  started_at: number | null
  turn: string | null
  folded: number | null
}

interface Gathering {
  run_id: string
  since: number
  due_at: number
  wake_at: number | null
  status: RunStatus
  event_seq: number | null
  folded: number
}

/**
 * Decides about limited runs: which joins another, which waits in line, which starts. One call, one
 * transaction.
 */
export class Admission {
  readonly #gates: GateTable
  readonly #waits
  readonly #find
  readonly #note
  readonly #admit
  readonly #ready
  readonly #queue
  readonly #end
  readonly #gathering
  readonly #open
  readonly #close
  readonly #postpone
  readonly #countFolded
  readonly #setFolded
  readonly #absorb
  readonly #tell

  constructor(db: Database, gates: GateTable, waits: Pick<WaitTable, 'cancel' | 'runEnded'>) {
    this.#gates = gates
    this.#waits = waits
    // All of these find their run by its primary key.
    this.#find = db.prepare<Lease, Applicant>(
      `SELECT id, workflow, event_seq, started_at, turn, folded FROM run
       WHERE id = @runId AND fence = @fence AND status = 'running'`,
    )
    this.#note = db.prepare(`UPDATE run SET gates = ?, priority = ?, turn = 'out' WHERE id = ?`)
    this.#admit = db.prepare(`UPDATE run SET turn = 'in', started_at = ? WHERE id = ?`)
    this.#ready = db.prepare(
      `UPDATE run SET status = 'pending', turn = 'in', worker = NULL, started_at = ? WHERE id = ?`,
    )
    this.#queue = db.prepare(
      `UPDATE run SET status = 'waiting', turn = 'waits', worker = NULL, started_at = @startedAt, due_at = @dueAt,
         reason = @reason WHERE id = @id`,
    )
    this.#end = db.prepare(
      `UPDATE run SET status = @kind, reason = @reason, worker = NULL, started_at = NULL, finished_at = @now,
         folded_into = @foldedInto
       WHERE id = @id`,
    )
    this.#absorb = db.prepare(
      `UPDATE run SET status = 'skipped', reason = ?, fence = fence + 1, worker = NULL, due_at = NULL, finished_at = ?,
         folded_into = ? WHERE id = ?`,
    )
    this.#setFolded = db.prepare('UPDATE run SET folded = ? WHERE id = ?')
    this.#tell = db.prepare(
      `UPDATE run SET reason = @reason, due_at = @dueAt WHERE id = @id AND status = 'waiting' AND turn = 'waits'`,
    )
    // Index: run_folded, step by step.
    this.#countFolded = db
      .prepare<[string], number>(
        `WITH RECURSIVE folded (id) AS (SELECT id FROM run WHERE folded_into = ?
           UNION SELECT run.id FROM folded JOIN run ON run.folded_into = folded.id)
         SELECT count(*) FROM folded`,
      )
      .pluck()
    // Index: primary keys of gathering and run; closing goes by gathering_run.
    this.#gathering = db.prepare<[string, string], Gathering>(
      `SELECT run_id, since, gathering.due_at, wake_at, status, event_seq, coalesce(folded, 0) AS folded
       FROM gathering JOIN run ON run.id = run_id WHERE gathering.workflow = ? AND key = ?`,
    )
    this.#open = db.prepare(
      `INSERT INTO gathering (workflow, key, run_id, since, due_at, wake_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (workflow, key) DO UPDATE SET run_id = excluded.run_id, since = excluded.since,
         due_at = excluded.due_at, wake_at = excluded.wake_at`,
    )
    this.#close = db.prepare('DELETE FROM gathering WHERE run_id = ?')
    this.#postpone = db.prepare('UPDATE gathering SET due_at = ? WHERE workflow = ? AND key = ?')
  }

  /** Null when the lease is stale. */
  decide(lease: Lease, plan: AdmissionPlan, now: number): AdmissionAnswer | null {
    const run = this.#find.get(lease)
    if (!run) return null
    // Until it has been admitted once, a limited run's `started_at` is only the moment of a claim.
    const hasStarted = plan.hasStarted || (run.turn !== null && run.started_at !== null)
    // A throttle counts first starts. Kept without it: whoever is let in later passes the gates
    // that are kept.
    const gates = hasStarted ? plan.gates.filter((gate) => gate.name !== 'throttle') : plan.gates
    this.#note.run(JSON.stringify(gates), plan.priority, run.id)
    this.#gates.saveRules(run.workflow, gates)
    this.#gates.giveUp(run.id)
    if (!hasStarted) return this.#decideFirst(run, plan, now)
    return { verdict: this.#line(run, { ...plan, gates, mayStart: true }, { now, hasStarted }), canceled: [] }
  }

  #decideFirst(run: Applicant, plan: AdmissionPlan, now: number): AdmissionAnswer {
    const { startBy, fold } = plan
    if (startBy !== null && now >= startBy) {
      const reason = `timeout: it had not started by ${isoTime(startBy)}`
      return { verdict: this.#finish(run, { kind: 'canceled', reason }, now), canceled: [] }
    }
    const joined = fold ? this.#join(run, fold, plan.wakeAt, now) : null
    if (joined) return { verdict: joined, canceled: [] }
    const singleton = plan.gates.find((gate) => gate.name === 'singleton')
    const conflict = singleton && plan.onConflict !== 'queue' ? this.#resolve(run, singleton, plan, now) : null
    if (conflict?.verdict) return { verdict: conflict.verdict, canceled: [] }
    return { verdict: this.#line(run, plan, { now, hasStarted: false }), canceled: conflict?.canceled ?? [] }
  }

  /** Through the gates, or in line at one of them. */
  #line(
    run: Applicant,
    { gates, priority, wakeAt, mayStart }: AdmissionPlan,
    { now, hasStarted }: { now: number; hasStarted: boolean },
  ): AdmissionVerdict {
    const { id, workflow } = run
    for (const gate of gates) if (gate.name === 'throttle') this.#gates.expireStarts(workflow, gate, now)
    const standing = this.#gates.pass({ runId: id, workflow, priority, gates, wakeAt })
    if (standing) return this.#wait(run, standing, hasStarted)
    if (!mayStart) {
      this.#ready.run(null, id)
      return { kind: 'ready' }
    }
    const startedAt = hasStarted ? (run.started_at ?? now) : now
    this.#admit.run(startedAt, id)
    this.#gates.start(workflow, id, now)
    return { kind: 'admitted', startedAt, folded: run.folded ?? 0 }
  }

  #wait({ id, started_at }: Applicant, { dueAt, reason }: Standing, hasStarted: boolean): AdmissionVerdict {
    this.#queue.run({ id, dueAt, reason, startedAt: hasStarted ? started_at : null })
    return { kind: 'queued', dueAt, reason }
  }

  #finish(
    { id }: Applicant,
    verdict: Extract<AdmissionVerdict, { kind: 'skipped' | 'canceled' }>,
    now: number,
    foldedInto: string | null = null,
  ): AdmissionVerdict {
    this.#end.run({ id, ...verdict, now, foldedInto })
    this.#waits.runEnded(id)
    return verdict
  }

  /** What a singleton does about another unfinished run; nothing where there is none. */
  #resolve(
    run: Applicant,
    gate: Gate,
    { onConflict }: AdmissionPlan,
    now: number,
  ): { verdict?: AdmissionVerdict; canceled?: string[] } {
    const holder = this.#gates.findHolder(run.workflow, gate, run.id)
    if (holder === null) return {}
    if (onConflict === 'skip') {
      return { verdict: this.#finish(run, { kind: 'skipped', reason: `singleton: ${holder} is unfinished` }, now) }
    }
    if (holder > run.id) {
      const reason = `singleton: the newer ${holder} is unfinished`
      return { verdict: this.#finish(run, { kind: 'canceled', reason }, now) }
    }
    return { canceled: this.#waits.cancel(holder, `singleton: replaced by ${run.id}`, now) }
  }

  /** Gathers, or joins who gathers; null when the run has gathered all it is to have. */
  #join(run: Applicant, fold: Fold, wakeAt: number | null, now: number): AdmissionVerdict | null {
    const open = this.#gathering.get(run.workflow, fold.key)
    if (open?.run_id === run.id) return this.#goOnGathering(run, fold, open, now)
    if (run.folded !== null) {
      this.#close.run(run.id)
      return null
    }
    if (!open) return this.#openGathering(run, fold, { since: now, folded: 0, wakeAt, now })
    if (fold.kind === 'batch') return this.#foldInto(run, fold, open, now)
    // A worker has it in hand, because it is due: it starts with what it has.
    if (open.status === 'running') {
      this.#close.run(open.run_id)
      return this.#openGathering(run, fold, { since: now, folded: 0, wakeAt, now })
    }
    if ((open.event_seq ?? 0) > (run.event_seq ?? 0)) return this.#foldInto(run, fold, open, now)
    this.#absorb.run(`folded into ${run.id}`, now, run.id, open.run_id)
    this.#waits.runEnded(open.run_id)
    return this.#openGathering(run, fold, { since: open.since, folded: open.folded + 1, wakeAt, now })
  }

  #goOnGathering(run: Applicant, fold: Fold, open: Gathering, now: number): AdmissionVerdict | null {
    if (now >= open.due_at || isFull(fold, open.folded)) {
      this.#close.run(run.id)
      return null
    }
    return this.#wait(run, describe(fold, open), false)
  }

  #openGathering(
    run: Applicant,
    fold: Fold,
    { since, folded, wakeAt, now }: { since: number; folded: number; wakeAt: number | null; now: number },
  ): AdmissionVerdict | null {
    // A person may have sent a run on that had gathered before.
    const all = folded > 0 ? folded : (this.#countFolded.get(run.id) ?? 0)
    this.#setFolded.run(all, run.id)
    run.folded = all
    if (isFull(fold, all)) return null
    const dueAt = computeDue(fold, { since, now })
    this.#open.run(run.workflow, fold.key, run.id, since, dueAt, wakeAt)
    return this.#wait(run, describe(fold, { due_at: dueAt, wake_at: wakeAt, folded: all }), false)
  }

  #foldInto(run: Applicant, fold: Fold, open: Gathering, now: number): AdmissionVerdict {
    const folded = open.folded + 1 + (this.#countFolded.get(run.id) ?? 0)
    this.#setFolded.run(folded, open.run_id)
    const verdict = this.#finish(run, { kind: 'skipped', reason: `folded into ${open.run_id}` }, now, open.run_id)
    if (isFull(fold, folded)) {
      this.#close.run(open.run_id)
      this.#gates.moveOn(open.run_id, open.wake_at)
      return verdict
    }
    const due_at = computeDue(fold, { since: open.since, now })
    if (due_at !== open.due_at) this.#postpone.run(due_at, run.workflow, fold.key)
    this.#tell.run({ id: open.run_id, ...describe(fold, { ...open, due_at, folded }) })
    return verdict
  }
}

function isFull(fold: Fold, folded: number): boolean {
  return fold.kind === 'batch' && folded + 1 >= fold.size
}

function describe(fold: Fold, { due_at, wake_at, folded }: Pick<Gathering, 'due_at' | 'wake_at' | 'folded'>): Standing {
  const reason = describeGathering(fold, { gathered: folded + 1, dueAt: due_at })
  return { reason, dueAt: wake_at === null ? due_at : Math.min(due_at, wake_at) }
}
