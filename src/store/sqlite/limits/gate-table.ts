import { describeWait, type Gate } from '../../../core/runs/admission.ts'
import type { Connection } from '../../connection.ts'
import {
  type Candidate,
  earlier,
  type FirstInLine,
  type GateKey,
  type GateRule,
  type Standing,
} from '../../rows/limits/standing.ts'
import type { TransactionWatcher } from '../database/group-commit.ts'

/**
 * The gates and the runs at them. A run takes its gates in order and keeps those it passed, so no
 * two runs wait for each other. See decision 5.
 */
export class GateTable implements TransactionWatcher {
  readonly #rules
  readonly #places
  readonly #starts
  readonly #runs
  readonly #freed
  readonly #clearFreed
  /** The run that {@link pass} takes through its gates now; its row still says `running`. */
  #passing: Candidate | null = null

  constructor(db: Connection) {
    this.#rules = prepareRules(db)
    this.#places = preparePlaces(db)
    this.#starts = prepareStarts(db)
    this.#runs = prepareRuns(db)
    // No index: a few rows, and none between transactions.
    this.#freed = db.prepare<[], { workflow: string; gate: Gate['name']; key: string }>('SELECT * FROM freed_gate')
    this.#clearFreed = db.prepare('DELETE FROM freed_gate')
  }

  begun(): void {}

  rolledBack(): void {}

  /** Admits the next runs wherever this transaction freed a place. */
  async ending(): Promise<void> {
    for (let freed = await this.#freed.all(); freed.length > 0; freed = await this.#freed.all()) {
      await this.#clearFreed.run()
      for (const { workflow, gate, key } of freed) await this.#admitNext([workflow, gate, key])
    }
  }

  /** Saves the limits that the code states now: a raised limit admits more runs at once. */
  async saveRules(workflow: string, gates: readonly Gate[]): Promise<void> {
    for (const { name, most, perMs } of gates) {
      const known = await this.#rules.find.get(workflow, name)
      if (known?.most !== most || known.perMs !== perMs) await this.#rules.save.run(workflow, name, most, perMs)
    }
  }

  /** The unfinished run that has a singleton's place; null when there is none but `runId`. */
  async findHolder(workflow: string, { name, key }: Gate, runId: string): Promise<string | null> {
    const holder = await this.#places.holder.get(workflow, name, key)
    return holder === undefined || holder === runId ? null : holder
  }

  /** Takes a run out of every line and frees its places, except those that survive a sleep. */
  async freePlaces(runId: string): Promise<void> {
    await this.#places.free.run(runId)
  }

  /** Deletes the starts that a throttle no longer counts at `now`. */
  async expireStarts(workflow: string, { key, perMs }: Gate, now: number): Promise<void> {
    await this.#starts.expire.run(workflow, key, now)
    await this.#starts.clamp.run({ workflow, key, last: now + (perMs ?? 0) })
  }

  /** Takes a claimed run through its gates; null when it passed all, else where it stands. */
  async pass(run: Candidate): Promise<Standing | null> {
    this.#passing = run
    try {
      await this.#advance(run)
      return this.#findStanding(run)
    } finally {
      this.#passing = null
    }
  }

  /**
   * Takes a run in line through its remaining gates: it becomes `pending`, or stands in the next
   * line. Does nothing for a claimed run, which asks by itself.
   */
  async moveOn(runId: string, wakeAt: number | null): Promise<void> {
    const row = await this.#runs.findInLine.get(runId)
    if (!row) return
    const { workflow, priority } = row
    const run = { runId, workflow, priority, gates: JSON.parse(row.gates), wakeAt }
    await this.#advance(run)
    const standing = await this.#findStanding(run)
    if (standing) await this.#runs.wake.run(standing.dueAt, standing.reason, runId)
    else await this.#runs.admit.run(runId)
  }

  /** Records the start of an admitted run: its throttle now counts the start, not the place. */
  async start(workflow: string, runId: string, now: number): Promise<void> {
    const key = await this.#places.throttleKey.get(runId)
    if (key === undefined) return
    const perMs = (await this.#rules.find.get(workflow, 'throttle'))?.perMs ?? 0
    await this.#places.dropThrottle.run(runId)
    await this.#starts.add.run(workflow, key, now + perMs, runId)
    await this.#starts.sweep.run(now)
  }

  /** Puts a run in line at the first gate that it has not passed. */
  async #advance(run: Candidate): Promise<void> {
    const gate = await this.#nextGate(run)
    if (!gate) return
    const at: GateKey = [run.workflow, gate.name, gate.key]
    const survivesSleep = gate.name === 'singleton' ? 1 : 0
    await this.#places.enter.run(...at, -run.priority, run.runId, survivesSleep, run.wakeAt)
    await this.#admitNext(at)
  }

  async #nextGate({ runId, workflow, gates }: Candidate): Promise<Gate | null> {
    for (const gate of gates) {
      if ((await this.#places.isHeld.get(workflow, gate.name, gate.key, runId)) === undefined) return gate
    }
    return null
  }

  /**
   * Admits as many runs as there is room for, by priority and age. Each takes all its gates before
   * the next one is admitted, so that none overtakes it.
   */
  async #admitNext(at: GateKey): Promise<void> {
    const [workflow, gate] = at
    const rule = await this.#rules.find.get(workflow, gate)
    if (!rule) return
    for (let first = await this.#places.first.get(...at); first; first = await this.#places.first.get(...at)) {
      const taken = await this.#countTaken(at)
      if (taken >= rule.most) {
        if (gate === 'throttle') await this.#wakeAtOpening(at, first, { taken, ...rule })
        return
      }
      const self = first.run_id === this.#passing?.runId ? this.#passing : null
      // A worker has claimed the first in line and is about to ask for it: no run overtakes it.
      if (!self && !(await this.#runs.findInLine.get(first.run_id))) return
      await this.#places.hold.run(...at, first.rank, first.run_id)
      if (self) await this.#advance(self)
      else await this.moveOn(first.run_id, first.wake_at)
    }
  }

  async #countTaken(at: GateKey): Promise<number> {
    const [workflow, gate, key] = at
    const held = (await this.#places.countHeld.get(...at)) ?? 0
    return gate === 'throttle' ? held + ((await this.#starts.count.get(workflow, key)) ?? 0) : held
  }

  /** Only the first in line has a moment, so that a long line is not woken together. */
  async #wakeAtOpening(
    at: GateKey,
    first: FirstInLine,
    { taken, most, perMs }: GateRule & { taken: number },
  ): Promise<void> {
    const [workflow, name, key] = at
    const nextAt = (await this.#starts.nextOpening.get(workflow, key, taken - most)) ?? null
    const reason = describeWait({ name, key, most, perMs }, { taken, nextAt })
    await this.#runs.wake.run(earlier(nextAt, first.wake_at), reason, first.run_id)
  }

  async #findStanding(run: Candidate): Promise<Standing | null> {
    const gate = await this.#nextGate(run)
    if (!gate) return null
    const at: GateKey = [run.workflow, gate.name, gate.key]
    const taken = await this.#countTaken(at)
    if (gate.name !== 'throttle') return { reason: describeWait(gate, { taken, nextAt: null }), dueAt: run.wakeAt }
    const nextAt = (await this.#starts.nextOpening.get(run.workflow, gate.key, Math.max(0, taken - gate.most))) ?? null
    const isFirst = (await this.#places.first.get(...at))?.run_id === run.runId
    return { reason: describeWait(gate, { taken, nextAt }), dueAt: isFirst ? earlier(nextAt, run.wakeAt) : run.wakeAt }
  }
}

/** Index: primary key of gate_rule. */
function prepareRules(db: Connection) {
  return {
    find: db.prepare<[string, string], GateRule>(
      'SELECT max_runs AS most, per_ms AS perMs FROM gate_rule WHERE workflow = ? AND gate = ?',
    ),
    save: db.prepare(
      `INSERT INTO gate_rule (workflow, gate, max_runs, per_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (workflow, gate) DO UPDATE SET max_runs = excluded.max_runs, per_ms = excluded.per_ms`,
    ),
  }
}

/**
 * Index: primary key of place, down to `is_held`, for what names a gate; place_run for the rest. A
 * count reads as many rows as the gate admits.
 */
function preparePlaces(db: Connection) {
  const at = 'FROM place WHERE workflow = ? AND gate = ? AND key = ?'
  return {
    countHeld: db.prepare<GateKey, number>(`SELECT count(*) ${at} AND is_held = 1`).pluck(),
    isHeld: db.prepare<[...GateKey, string], number>(`SELECT 1 ${at} AND is_held = 1 AND run_id = ?`).pluck(),
    holder: db.prepare<GateKey, string>(`SELECT run_id ${at} AND is_held = 1 LIMIT 1`).pluck(),
    first: db.prepare<GateKey, FirstInLine>(
      `SELECT rank, run_id, wake_at ${at} AND is_held = 0 ORDER BY rank, run_id LIMIT 1`,
    ),
    enter: db.prepare(
      `INSERT INTO place (workflow, gate, key, is_held, rank, run_id, survives_sleep, wake_at)
       VALUES (?, ?, ?, 0, ?, ?, ?, ?)`,
    ),
    hold: db.prepare(
      `UPDATE place SET is_held = 1
       WHERE workflow = ? AND gate = ? AND key = ? AND is_held = 0 AND rank = ? AND run_id = ?`,
    ),
    free: db.prepare('DELETE FROM place WHERE run_id = ? AND (survives_sleep = 0 OR is_held = 0)'),
    throttleKey: db
      .prepare<[string], string>(`SELECT key FROM place WHERE run_id = ? AND gate = 'throttle' AND is_held = 1`)
      .pluck(),
    dropThrottle: db.prepare(`DELETE FROM place WHERE run_id = ? AND gate = 'throttle'`),
  }
}

/** Index: primary key of throttle_start; throttle_start_until for the sweep. */
function prepareStarts(db: Connection) {
  return {
    count: db
      .prepare<[string, string], number>('SELECT count(*) FROM throttle_start WHERE workflow = ? AND key = ?')
      .pluck(),
    nextOpening: db
      .prepare<[string, string, number], number>(
        'SELECT until FROM throttle_start WHERE workflow = ? AND key = ? ORDER BY until LIMIT 1 OFFSET ?',
      )
      .pluck(),
    add: db.prepare('INSERT INTO throttle_start (workflow, key, until, run_id) VALUES (?, ?, ?, ?)'),
    expire: db.prepare('DELETE FROM throttle_start WHERE workflow = ? AND key = ? AND until <= ?'),
    // After the clock was set back, no start counts for longer than the throttle's own time.
    clamp: db.prepare(
      'UPDATE throttle_start SET until = @last WHERE workflow = @workflow AND key = @key AND until > @last',
    ),
    // Up to 20 rows of any key, so that a key that never comes back leaves nothing behind.
    sweep: db.prepare(
      `DELETE FROM throttle_start WHERE (workflow, key, until, run_id) IN
         (SELECT workflow, key, until, run_id FROM throttle_start WHERE until <= ? ORDER BY until LIMIT 20)`,
    ),
  }
}

/** Index: primary key of run. */
function prepareRuns(db: Connection) {
  const isInLine = `id = ? AND status = 'waiting' AND gate_state = 'in_line'`
  return {
    findInLine: db.prepare<[string], { workflow: string; priority: number; gates: string }>(
      `SELECT workflow, priority, gates FROM run WHERE ${isInLine}`,
    ),
    wake: db.prepare(`UPDATE run SET due_at = ?, reason = ? WHERE ${isInLine}`),
    admit: db.prepare(
      `UPDATE run SET status = 'pending', gate_state = 'admitted', due_at = NULL, reason = NULL WHERE id = ?`,
    ),
  }
}
