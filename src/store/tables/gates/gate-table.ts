import { readIdTime } from '../../../core/ids.ts'
import { describeWait, type Gate } from '../../../core/runs/admission.ts'
import { type Connection, Table } from '../../connection.ts'

type GateKey = [workflow: string, gate: Gate['name'], key: string]

/** How many runs a gate admits. */
type GateRule = Pick<Gate, 'most' | 'perMs'>

interface Candidate {
  runId: string
  workflow: string
  priority: number
  gates: readonly Gate[]
  /** The latest moment at which a run in line is claimed again; null: only once it is admitted. */
  wakeAt: number | null
}

/** Why a run stands in line, and when it is due. */
export interface Standing {
  reason: string
  dueAt: number | null
}

/** The row of the run that a gate admits next. */
interface FirstInLine {
  rank: number
  runId: string
  wakeAt: number | null
}

/** A slot that a run gave back. */
interface FreedSlot {
  workflow: string
  gate: Gate['name']
  key: string
}

/** A run that was made after another one. */
const IS_NEWER = '(run.created_at, run.id) > (CAST(@createdAt AS bigint), @id)'

/**
 * The gates and the runs at them. A run takes its gates in order and keeps those it passed, so no
 * two runs wait for each other. See decision 5.
 */
export class GateTable extends Table {
  /** Gates where this transaction freed a slot. */
  #freed: GateKey[] = []
  /** Runs that it has let in, until they are asked for. */
  #letIn: string[] = []
  /** The run that {@link pass} takes through its gates now; its row still says `running`. */
  #passing: Candidate | null = null
  /** Index: primary key of gate_rule. */
  readonly #rules = {
    find: this.db.prepare<[string, string], GateRule>(
      'SELECT max_runs AS most, per_ms FROM gate_rule WHERE workflow = ? AND gate = ?',
    ),
    save: this.db.prepare(
      `INSERT INTO gate_rule (workflow, gate, max_runs, per_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (workflow, gate) DO UPDATE SET max_runs = excluded.max_runs, per_ms = excluded.per_ms`,
    ),
  }
  readonly #slots = prepareSlots(this.db)
  /** Index: primary key of throttle_start; throttle_start_until for the sweep. */
  readonly #starts = {
    // In one statement: a start that takes the place of a slot is not missed, and not counted
    // twice.
    countTaken: this.db.pluck<[{ workflow: string; gate: string; key: string }], number>(`SELECT count(*) FROM (
           SELECT 1 FROM gate_slot WHERE workflow = @workflow AND gate = @gate AND key = @key AND is_held = 1
           UNION ALL SELECT 1 FROM throttle_start WHERE workflow = @workflow AND key = @key) AS taken`),
    nextOpening: this.db.pluck<[string, string, number], number>(
      'SELECT until FROM throttle_start WHERE workflow = ? AND key = ? ORDER BY until LIMIT 1 OFFSET ?',
    ),
    add: this.db.prepare(
      'INSERT INTO throttle_start (workflow, key, until, run_id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    // Up to 20 rows of any key, so that a key that never comes back leaves nothing behind.
    sweep: this.db.prepare(
      `DELETE FROM throttle_start WHERE (workflow, key, until, run_id) IN
         (SELECT workflow, key, until, run_id FROM throttle_start WHERE until <= ? ORDER BY until LIMIT 20
          ${this.db.sql.skipLocked})`,
    ),
    expire: this.db.prepare('DELETE FROM throttle_start WHERE workflow = ? AND key = ? AND until <= ?'),
    // After the clock was set back, no start counts for longer than the throttle's own time.
    clamp: this.db.prepare(
      'UPDATE throttle_start SET until = @last WHERE workflow = @workflow AND key = @key AND until > @last',
    ),
  }
  readonly #runs = prepareRuns(this.db)

  /** Admits the next runs wherever this transaction freed a slot. */
  async ending(): Promise<void> {
    await this.letIn()
  }

  /** The same; gives the runs that passed their last gate since this was called. */
  async letIn(): Promise<string[]> {
    while (this.#freed.length > 0) {
      const freed = this.#freed.sort(byLine)
      this.#freed = []
      for (const at of freed) await this.#admitNext(at)
    }
    const letIn = this.#letIn
    this.#letIn = []
    return letIn
  }

  rolledBack(): void {
    this.#freed = []
    this.#letIn = []
    this.#passing = null
  }

  /** Locks the gates of runs to the end of the transaction, in the order of the line. */
  async lockGatesOf(...runIds: string[]): Promise<void> {
    const lines = await this.#runs.listLines.all(runIds)
    const gates = lines.flatMap(({ workflow, gates }) =>
      (JSON.parse(gates) as Gate[]).map(({ name, key }): GateKey => [workflow, name, key]),
    )
    for (const at of gates.sort(byLine)) await this.db.lock(at)
  }

  /** Frees the places of a run that waits outside of a line, as {@link freePlaces} does. */
  async sleep(runId: string): Promise<void> {
    if ((await this.#runs.leave.run(runId)).changes === 0) return
    await this.#runs.dropGathering.run(runId)
    await this.freePlaces(runId)
  }

  /** A run that is over gives all its slots back. */
  async leave(runId: string): Promise<void> {
    await this.#runs.dropGathering.run(runId)
    this.#note(await this.#slots.freeAll.all(runId))
  }

  #note(freed: readonly FreedSlot[]): void {
    for (const { workflow, gate, key } of freed) this.#freed.push([workflow, gate, key])
  }

  /** Saves the limits that the code states now: a raised limit admits more runs at once. */
  async saveRules(workflow: string, gates: readonly Gate[]): Promise<void> {
    for (const { name, most, perMs } of gates) {
      const known = await this.#rules.find.get(workflow, name)
      if (known?.most !== most || known.perMs !== perMs) await this.#rules.save.run(workflow, name, most, perMs)
    }
  }

  /** The unfinished run that has a singleton's slot; null when there is none but `runId`. */
  async findHolder(workflow: string, gate: Gate, runId: string): Promise<string | null> {
    await this.db.lock([workflow, gate.name, gate.key])
    return this.readHolder(workflow, gate, runId)
  }

  /** The same without a lock, so that there may be another one by now. */
  async readHolder(workflow: string, { name, key }: Gate, runId: string): Promise<string | null> {
    const holder = await this.#slots.holder.get(workflow, name, key)
    return holder === undefined || holder === runId ? null : holder
  }

  /**
   * True where a holder was made before a run. A chain is as old as its first run, and one that is
   * pruned is older. The id of an invoked run has the moment of its parent. Index: primary key.
   */
  readonly isOlder = this.hasRow<[{ holder: string; id: string; createdAt: number }]>(
    `WITH RECURSIVE chain (id) AS (SELECT id FROM run WHERE id = @holder
       UNION ALL SELECT (SELECT origin_run FROM run WHERE run.id = chain.id AND origin = 'continue' AND ${IS_NEWER})
         FROM chain WHERE id IS NOT NULL)
     SELECT 1 FROM chain WHERE id IS NOT NULL
       AND (SELECT 1 FROM run WHERE run.id = chain.id AND ${IS_NEWER}) IS NULL LIMIT 1`,
  )

  /** Takes a run out of every line and frees its slots, except those that survive a sleep. */
  async freePlaces(runId: string): Promise<void> {
    this.#note(await this.#slots.free.all(runId))
  }

  /** Deletes the starts that a throttle no longer counts at `now`. */
  async expireStarts(workflow: string, { key, perMs }: Gate, now: number): Promise<void> {
    await this.#starts.expire.run(workflow, key, now)
    await this.#starts.clamp.run({ workflow, key, last: now + (perMs ?? 0) })
  }

  /** Takes a claimed run through its gates; null when it passed all, else where it stands. */
  async pass(run: Candidate, now: number): Promise<Standing | null> {
    this.#passing = run
    try {
      await this.#advance(run)
      return await this.#findStanding(run, now)
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
    // Where its throttle has no moment yet, the run asks soon: the present one is not known here.
    const standing = await this.#findStanding(run, readIdTime(runId))
    if (standing) await this.#runs.wake.run(standing.dueAt, standing.reason, runId)
    else {
      await this.#runs.admit.run(runId)
      this.#letIn.push(runId)
    }
  }

  /** Records the start of an admitted run: its throttle now counts the start, not the slot. */
  async start(runId: string, now: number): Promise<void> {
    const slot = await this.#slots.takeThrottle.get(runId)
    if (!slot) return
    const perMs = (await this.#rules.find.get(slot.workflow, 'throttle'))?.perMs ?? 0
    await this.#starts.add.run(slot.workflow, slot.key, now + perMs, runId)
    await this.#starts.sweep.run(now)
    // The first in line has a moment from now on.
    this.#note([{ ...slot, gate: 'throttle' }])
  }

  /** Puts a run in line at the first gate that it has not passed. */
  async #advance(run: Candidate): Promise<void> {
    const gate = await this.#nextGate(run)
    if (!gate) return
    const at: GateKey = [run.workflow, gate.name, gate.key]
    await this.db.lock(at)
    const survivesSleep = gate.name === 'singleton' ? 1 : 0
    await this.#slots.enter.run(...at, -run.priority, run.runId, survivesSleep, run.wakeAt)
    await this.#admitNext(at)
  }

  async #nextGate({ runId, workflow, gates }: Candidate): Promise<Gate | undefined> {
    for (const gate of gates) {
      if ((await this.#slots.isHeld.get(workflow, gate.name, gate.key, runId)) === undefined) return gate
    }
    return undefined
  }

  /**
   * Admits as many runs as there is room for, by priority and age. Each takes all its gates before
   * the next one is admitted, so that none overtakes it.
   */
  async #admitNext(at: GateKey): Promise<void> {
    const [workflow, gate] = at
    // Others may have changed it before the lock, so it is read behind that.
    await this.db.lock(at)
    const rule = await this.#rules.find.get(workflow, gate)
    if (!rule) return
    for (let first = await this.#slots.first.get(...at); first; first = await this.#slots.first.get(...at)) {
      const taken = await this.#countTaken(at)
      if (taken >= rule.most) {
        if (gate === 'throttle') await this.#wakeAtOpening(at, first, { taken, ...rule })
        return
      }
      const self = first.runId === this.#passing?.runId ? this.#passing : null
      // A worker has claimed the first in line and is about to ask for it: no run overtakes it.
      if (!self && (await this.#runs.findInLine.get(first.runId)) === undefined) return
      await this.#slots.hold.run(...at, first.rank, first.runId)
      if (self) await this.#advance(self)
      else await this.moveOn(first.runId, first.wakeAt)
    }
  }

  async #countTaken(at: GateKey): Promise<number> {
    const [workflow, gate, key] = at
    if (gate !== 'throttle') return (await this.#slots.countHeld.get(...at)) ?? 0
    return (await this.#starts.countTaken.get({ workflow, gate, key })) ?? 0
  }

  /** Only the first in line has a moment, so that a long line is not woken together. */
  async #wakeAtOpening(
    at: GateKey,
    first: FirstInLine,
    { taken, most, perMs }: GateRule & { taken: number },
  ): Promise<void> {
    const [workflow, name, key] = at
    const nextAt = await this.#starts.nextOpening.get(workflow, key, taken - most)
    if (nextAt === undefined) await this.#runs.wakeSoon.run(readIdTime(first.runId), first.runId)
    else {
      const reason = describeWait({ name, key, most, perMs }, { taken, nextAt })
      await this.#runs.wake.run(earlier(nextAt, first.wakeAt), reason, first.runId)
    }
  }

  async #findStanding(run: Candidate, now: number): Promise<Standing | null> {
    const gate = await this.#nextGate(run)
    if (!gate) return null
    const at: GateKey = [run.workflow, gate.name, gate.key]
    const taken = await this.#countTaken(at)
    if (gate.name !== 'throttle') return { reason: describeWait(gate, { taken, nextAt: null }), dueAt: run.wakeAt }
    const nextAt = (await this.#starts.nextOpening.get(run.workflow, gate.key, Math.max(0, taken - gate.most))) ?? null
    const isFirst = (await this.#slots.first.get(...at))?.runId === run.runId
    // Runs with its slots are about to start, and shut it for its whole time. Their starts tell the
    // moment to a run in line, but may miss this one.
    const opensAt = nextAt ?? now + (gate.perMs ?? 0)
    return { reason: describeWait(gate, { taken, nextAt }), dueAt: isFirst ? earlier(opensAt, run.wakeAt) : run.wakeAt }
  }
}

/**
 * Index: primary key of gate_slot, down to `is_held`, for what names a gate; gate_slot_run for the
 * rest. A count reads as many rows as the gate admits.
 */
function prepareSlots(db: Connection) {
  const at = 'FROM gate_slot WHERE workflow = ? AND gate = ? AND key = ?'
  const freed = 'workflow, gate, key'
  return {
    countHeld: db.pluck<GateKey, number>(`SELECT count(*) ${at} AND is_held = 1`),
    isHeld: db.pluck<[...GateKey, string], number>(`SELECT 1 ${at} AND is_held = 1 AND run_id = ?`),
    holder: db.pluck<GateKey, string>(`SELECT run_id ${at} AND is_held = 1 LIMIT 1`),
    first: db.prepare<GateKey, FirstInLine>(
      `SELECT rank, run_id, wake_at ${at} AND is_held = 0 ORDER BY rank, run_id LIMIT 1`,
    ),
    // Another transaction may have let the run in before it saw that a worker has claimed it.
    enter: db.prepare(
      `INSERT INTO gate_slot (workflow, gate, key, is_held, rank, run_id, survives_sleep, wake_at)
       VALUES (?, ?, ?, 0, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    hold: db.prepare(
      `UPDATE gate_slot SET is_held = 1
       WHERE workflow = ? AND gate = ? AND key = ? AND is_held = 0 AND rank = ? AND run_id = ?`,
    ),
    free: db.prepare<[string], FreedSlot>(
      `DELETE FROM gate_slot WHERE run_id = ? AND (survives_sleep = 0 OR is_held = 0) RETURNING ${freed}`,
    ),
    freeAll: db.prepare<[string], FreedSlot>(`DELETE FROM gate_slot WHERE run_id = ? RETURNING ${freed}`),
    takeThrottle: db.prepare<[string], { workflow: string; key: string }>(
      `DELETE FROM gate_slot WHERE run_id = ? AND gate = 'throttle' AND is_held = 1 RETURNING workflow, key`,
    ),
  }
}

/** Index: primary key of work. */
function prepareRuns(db: Connection) {
  const isInLine = `run_id = ? AND status = 'waiting' AND gate_state = 'in_line'`
  return {
    findInLine: db.prepare<[string], { workflow: string; priority: number; gates: string }>(
      `SELECT workflow, -rank AS priority, gates FROM work WHERE ${isInLine}`,
    ),
    listLines: db.prepare<[string[]], { workflow: string; gates: string }>(
      `SELECT DISTINCT workflow, gates FROM work
       WHERE ${db.sql.isOneOf('run_id', 'text')} AND gates IS NOT NULL
         AND (status = 'waiting' OR gate_state IS DISTINCT FROM 'in_line')`,
    ),
    wake: db.prepare(`UPDATE work SET due_at = ?, reason = ? WHERE ${isInLine}`),
    // Where nobody knows the moment yet, the run asks, and gets one.
    wakeSoon: db.prepare(`UPDATE work SET due_at = coalesce(due_at, ?) WHERE ${isInLine}`),
    admit: db.prepare(
      `UPDATE work SET status = 'pending', gate_state = 'admitted', due_at = NULL, reason = NULL WHERE ${isInLine}`,
    ),
    leave: db.prepare<[string]>(
      `UPDATE work SET gate_state = 'outside' WHERE run_id = ? AND gate_state IS NOT NULL
         AND status = 'waiting' AND gate_state <> 'in_line'`,
    ),
    // Index: gathering_run.
    dropGathering: db.prepare<[string]>('DELETE FROM gathering WHERE run_id = ?'),
  }
}

const LINE: readonly Gate['name'][] = ['singleton', 'throttle', 'concurrency-1', 'concurrency-2']

/** The order of locks: the gates as in a line, and the keys and workflows of each in theirs. */
function byLine([workflow, gate, key]: GateKey, [otherWorkflow, otherGate, otherKey]: GateKey): number {
  const [place, other] = [`${key}\0${workflow}`, `${otherKey}\0${otherWorkflow}`]
  return LINE.indexOf(gate) - LINE.indexOf(otherGate) || (place < other ? -1 : 1)
}

/** The earlier of two moments; null: never. */
function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
