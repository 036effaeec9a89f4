import type { Database } from 'better-sqlite3'
import { describeWait, type Gate } from '../../../core/runs/admission.ts'
import type { TransactionWatcher } from '../database/group-commit.ts'

/** A gate of one workflow for one key. */
type GateKey = [workflow: string, gate: Gate['name'], key: string]

/** A run on its way through its gates. */
export interface Candidate {
  runId: string
  workflow: string
  priority: number
  gates: readonly Gate[]
  /** When it is looked at again at the latest. */
  wakeAt: number | null
}

/** What a run waits for, once it stands in line. */
export interface Standing {
  reason: string
  dueAt: number | null
}

interface FirstInLine {
  rank: number
  run_id: string
  wake_at: number | null
}

/**
 * The gates and who stands at them. A run takes its gates in order and holds those it has passed,
 * so nobody waits in a circle; at each gate the first by priority and age is next. Whoever leaves
 * makes room for the next one in the same commit.
 */
export class GateTable implements TransactionWatcher {
  readonly #rule
  readonly #saveRule
  readonly #held
  readonly #starts
  readonly #isHeld
  readonly #first
  readonly #enter
  readonly #hold
  readonly #giveUp
  readonly #holder
  readonly #outstanding
  readonly #dropOutstanding
  readonly #addStart
  readonly #clampStarts
  readonly #dropStarts
  readonly #sweepStarts
  readonly #nextOpening
  readonly #wake
  readonly #gatesOf
  readonly #letIn
  readonly #left
  readonly #clearLeft
  /**
   * The run that {@link pass} takes through its gates now; others are taken through by their rows.
   */
  #inHand: Candidate | null = null

  constructor(db: Database) {
    // Index: primary key of gate_rule.
    this.#rule = db.prepare<[string, string], { most: number; per_ms: number | null }>(
      'SELECT most, per_ms FROM gate_rule WHERE workflow = ? AND gate = ?',
    )
    this.#saveRule = db.prepare(
      `INSERT INTO gate_rule (workflow, gate, most, per_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (workflow, gate) DO UPDATE SET most = excluded.most, per_ms = excluded.per_ms`,
    )
    // Index: primary key of place, down to `is_held`; a count reads as many rows as the gate lets
    // in.
    const at = 'FROM place WHERE workflow = ? AND gate = ? AND key = ?'
    this.#held = db.prepare<GateKey, number>(`SELECT count(*) ${at} AND is_held = 1`).pluck()
    this.#isHeld = db.prepare<[...GateKey, string], number>(`SELECT 1 ${at} AND is_held = 1 AND run_id = ?`).pluck()
    this.#holder = db.prepare<GateKey, string>(`SELECT run_id ${at} AND is_held = 1 LIMIT 1`).pluck()
    this.#first = db.prepare<GateKey, FirstInLine>(
      `SELECT rank, run_id, wake_at ${at} AND is_held = 0 ORDER BY rank, run_id LIMIT 1`,
    )
    this.#enter = db.prepare(
      `INSERT INTO place (workflow, gate, key, is_held, rank, run_id, lasts, wake_at) VALUES (?, ?, ?, 0, ?, ?, ?, ?)`,
    )
    this.#hold = db.prepare(
      `UPDATE place SET is_held = 1 WHERE workflow = ? AND gate = ? AND key = ? AND is_held = 0 AND rank = ? AND run_id = ?`,
    )
    // Index: place_run.
    this.#giveUp = db.prepare('DELETE FROM place WHERE run_id = ? AND (lasts = 0 OR is_held = 0)')
    this.#outstanding = db
      .prepare<[string], string>(`SELECT key FROM place WHERE run_id = ? AND gate = 'throttle' AND is_held = 1`)
      .pluck()
    this.#dropOutstanding = db.prepare(`DELETE FROM place WHERE run_id = ? AND gate = 'throttle'`)
    // Index: primary key of throttle_start.
    this.#starts = db
      .prepare<[string, string], number>('SELECT count(*) FROM throttle_start WHERE workflow = ? AND key = ?')
      .pluck()
    this.#nextOpening = db
      .prepare<[string, string, number], number>(
        'SELECT until FROM throttle_start WHERE workflow = ? AND key = ? ORDER BY until LIMIT 1 OFFSET ?',
      )
      .pluck()
    this.#addStart = db.prepare('INSERT INTO throttle_start (workflow, key, until, run_id) VALUES (?, ?, ?, ?)')
    this.#dropStarts = db.prepare('DELETE FROM throttle_start WHERE workflow = ? AND key = ? AND until <= ?')
    // A clock that was set back must not close a gate for longer than its own time.
    this.#clampStarts = db.prepare(
      'UPDATE throttle_start SET until = @last WHERE workflow = @workflow AND key = @key AND until > @last',
    )
    // Index: throttle_over. Keys that never come back leave nothing behind.
    this.#sweepStarts = db.prepare(
      `DELETE FROM throttle_start WHERE (workflow, key, until, run_id) IN
         (SELECT workflow, key, until, run_id FROM throttle_start WHERE until <= ? ORDER BY until LIMIT 20)`,
    )
    // Index: primary key of run.
    this.#wake = db.prepare(
      `UPDATE run SET due_at = ?, reason = ? WHERE id = ? AND status = 'waiting' AND turn = 'waits'`,
    )
    this.#gatesOf = db.prepare<[string], { workflow: string; priority: number; gates: string }>(
      `SELECT workflow, priority, gates FROM run WHERE id = ? AND status = 'waiting' AND turn = 'waits'`,
    )
    this.#letIn = db.prepare(
      `UPDATE run SET status = 'pending', turn = 'in', due_at = NULL, reason = NULL WHERE id = ?`,
    )
    // A small table, empty between transactions.
    this.#left = db.prepare<[], { workflow: string; gate: Gate['name']; key: string }>('SELECT * FROM left_gate')
    this.#clearLeft = db.prepare('DELETE FROM left_gate')
  }

  begun(): void {}

  rolledBack(): void {}

  /** Lets the next ones in wherever somebody has left. */
  ending(): void {
    for (let left = this.#left.all(); left.length > 0; left = this.#left.all()) {
      this.#clearLeft.run()
      for (const { workflow, gate, key } of left) this.#admitNext([workflow, gate, key])
    }
  }

  /** Keeps what the code says now: a limit that was raised lets more in at once. */
  saveRules(workflow: string, gates: readonly Gate[]): void {
    for (const { name, most, perMs } of gates) {
      const known = this.#rule.get(workflow, name)
      if (known?.most !== most || known.per_ms !== perMs) this.#saveRule.run(workflow, name, most, perMs)
    }
  }

  /** The unfinished run that has a singleton's place; null when there is none but `runId`. */
  findHolder(workflow: string, { name, key }: Gate, runId: string): string | null {
    const holder = this.#holder.get(workflow, name, key)
    return holder === undefined || holder === runId ? null : holder
  }

  /** Leaves every line and what it holds only while it is at work. */
  giveUp(runId: string): void {
    this.#giveUp.run(runId)
  }

  /** Forgets the starts of a throttle that are over at `now`. */
  expireStarts(workflow: string, { key, perMs }: Gate, now: number): void {
    this.#dropStarts.run(workflow, key, now)
    this.#clampStarts.run({ workflow, key, last: now + (perMs ?? 0) })
  }

  /**
   * Takes the gates of a run that a worker has in hand, in order; null when it has passed all of
   * them, otherwise where it stands.
   */
  pass(run: Candidate): Standing | null {
    this.#inHand = run
    try {
      this.#advance(run)
      return this.#findStanding(run)
    } finally {
      this.#inHand = null
    }
  }

  /**
   * A waiting run goes through the gates that are left to it; it becomes `pending`, or stands in
   * the next line.
   */
  moveOn(runId: string, wakeAt: number | null): void {
    const row = this.#gatesOf.get(runId)
    // One that a worker has in hand asks for itself.
    if (!row) return
    const { workflow, priority } = row
    const run = { runId, workflow, priority, gates: JSON.parse(row.gates), wakeAt }
    this.#advance(run)
    const standing = this.#findStanding(run)
    if (standing) this.#wake.run(standing.dueAt, standing.reason, runId)
    else this.#letIn.run(runId)
  }

  /** A let-in run starts: from now on its throttle counts the start instead of its place. */
  start(workflow: string, runId: string, now: number): void {
    const key = this.#outstanding.get(runId)
    if (key === undefined) return
    const perMs = this.#rule.get(workflow, 'throttle')?.per_ms ?? 0
    this.#dropOutstanding.run(runId)
    this.#addStart.run(workflow, key, now + perMs, runId)
    this.#sweepStarts.run(now)
  }

  /** Stands in line at the next gate that it has not passed. */
  #advance(run: Candidate): void {
    const gate = this.#nextGate(run)
    if (!gate) return
    const at: GateKey = [run.workflow, gate.name, gate.key]
    this.#enter.run(...at, -run.priority, run.runId, gate.name === 'singleton' ? 1 : 0, run.wakeAt)
    this.#admitNext(at)
  }

  #nextGate({ runId, workflow, gates }: Candidate): Gate | undefined {
    return gates.find(({ name, key }) => !this.#isHeld.get(workflow, name, key, runId))
  }

  /**
   * Lets in as many as there is room for. Each goes on to its last gate before the next one is let
   * in, lest that one overtake it.
   */
  #admitNext(at: GateKey): void {
    const [workflow, gate] = at
    const rule = this.#rule.get(workflow, gate)
    if (!rule) return
    for (let first = this.#first.get(...at); first; first = this.#first.get(...at)) {
      const taken = this.#countTaken(at)
      if (taken >= rule.most) {
        if (gate === 'throttle') this.#wakeAtOpening(at, first, { taken, ...rule })
        return
      }
      const self = first.run_id === this.#inHand?.runId ? this.#inHand : null
      // A worker has it in hand and asks for it in a moment; nobody behind it overtakes it until
      // then.
      if (!self && !this.#gatesOf.get(first.run_id)) return
      this.#hold.run(...at, first.rank, first.run_id)
      if (self) this.#advance(self)
      else this.moveOn(first.run_id, first.wake_at)
    }
  }

  #countTaken(at: GateKey): number {
    const [workflow, gate, key] = at
    const held = this.#held.get(...at) ?? 0
    return gate === 'throttle' ? held + (this.#starts.get(workflow, key) ?? 0) : held
  }

  /** Only the first in line has a moment, so that a long line is not woken together. */
  #wakeAtOpening(
    at: GateKey,
    first: FirstInLine,
    { taken, most, per_ms }: { taken: number; most: number; per_ms: number | null },
  ): void {
    const [workflow, name, key] = at
    const nextAt = this.#nextOpening.get(workflow, key, taken - most) ?? null
    const reason = describeWait({ name, key, most, perMs: per_ms }, { taken, nextAt })
    this.#wake.run(earlier(nextAt, first.wake_at), reason, first.run_id)
  }

  #findStanding(run: Candidate): Standing | null {
    const gate = this.#nextGate(run)
    if (!gate) return null
    const at: GateKey = [run.workflow, gate.name, gate.key]
    const taken = this.#countTaken(at)
    if (gate.name !== 'throttle') return { reason: describeWait(gate, { taken, nextAt: null }), dueAt: run.wakeAt }
    const nextAt = this.#nextOpening.get(run.workflow, gate.key, Math.max(0, taken - gate.most)) ?? null
    const isFirst = this.#first.get(...at)?.run_id === run.runId
    return { reason: describeWait(gate, { taken, nextAt }), dueAt: isFirst ? earlier(nextAt, run.wakeAt) : run.wakeAt }
  }
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
