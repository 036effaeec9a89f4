import type { Database } from 'better-sqlite3'
import { isPlainObject } from '../../../core/json.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import { type EffectAsk, type EffectRecord, LEFT_ALONE } from '../../../core/safety/effect.ts'
import { STORAGES } from '../../../core/service/storage.ts'
import type { EffectFilter } from '../../../core/store/safety/effects.ts'
import { buildWhere, type Condition } from '../database/build-where.ts'
import type { GuardTable } from './guard-table.ts'

/** A row that tells of a person, not of a run. */
type Note = Partial<EffectRecord> & Pick<EffectRecord, 'at' | 'phase' | 'operation'>

interface Begun {
  at: number
  class: 'delete' | 'write'
  account: string
  target: string | null
  path: string | null
  bytes: number | null
  workflow: string
  code: string | null
  event_seq: number | null
  approval: string | null
}

/** The effect ledger. Its rows are appended; a trigger refuses to change one. */
export class EffectTable {
  readonly #db: Database
  readonly #guard: GuardTable
  readonly #writes

  constructor(db: Database, guard: GuardTable) {
    this.#db = db
    this.#guard = guard
    this.#writes = prepareWrites(db)
  }

  /** The ledger row in which a step's effect began; null where it has not. */
  findBegun(runId: string, key: string): number | null {
    return this.#writes.findBegun.get(runId, key) ?? null
  }

  /** Appends the beginning of an effect, and marks its step. */
  begin(runId: string, ask: EffectAsk, { approval, now }: { approval: string | null; now: number }): void {
    const { step, asked, account, workflow, operation } = ask
    const { lastInsertRowid } = this.#writes.begin.run({
      ...{ now, runId, account, workflow, operation, approval, class: ask.class },
      ...{ step: step.key, target: step.target, path: asked?.path ?? null, bytes: asked?.bytes ?? null },
      asked: asked === null ? null : JSON.stringify(asked),
    })
    this.#writes.mark.run(lastInsertRowid, runId, step.key)
  }

  /** An effect that has begun begins again: its first attempt has no known end. */
  repeat(runId: string, key: string): void {
    this.#writes.repeat.run(runId, key)
  }

  /**
   * Appends the end of a step's effect. A delete that left the file alone gives its place back. It
   * keeps it where an attempt before may have worked.
   */
  end(runId: string, step: Checkpoint, input: string | null): void {
    const seq = this.findBegun(runId, step.key)
    if (seq === null) {
      if (step.effect === 'write' && step.target !== null) this.#writeOnce(runId, step, input)
      return
    }
    const begun = this.#writes.find.get(seq)
    if (!begun) return
    const { outcome, proof } = readEnd(step)
    this.#writes.end.run({ ...begun, seq, runId, step: step.key, ...endOf(step), outcome, proof })
    if (begun.class !== 'delete' || outcome === null || !LEFT_ALONE.includes(outcome)) return
    if (this.#writes.countPermits.get(runId, step.key) !== 1) return
    const source = { runId, workflow: begun.workflow, account: begun.account, storage: storageOf(begun.target) }
    const size = { count: 1, bytes: begun.bytes ?? 0 }
    this.#guard.refund(source, begun.approval === null ? 'delete' : 'approved', size, begun.at)
  }

  /** Appends a decision, a switch, or an action by hand. */
  note(row: Note): void {
    const {
      ofSeq,
      account,
      target,
      path,
      bytes,
      workflow,
      runId,
      step,
      approval,
      actor,
      asked,
      outcome,
      proof,
      error,
    } = row
    this.#writes.note.run({
      ...{ at: row.at, phase: row.phase, operation: row.operation, class: row.class ?? 'guard' },
      ...nulls({ ofSeq, account, target, path, bytes, workflow, runId, step, approval, actor, asked }),
      ...nulls({ outcome, proof, error }),
    })
  }

  list({ limit, ...filter }: EffectFilter & { limit: number }): EffectRecord[] {
    const { where, values } = describeFilter(filter)
    const order = filter.after === undefined ? 'DESC' : 'ASC'
    // Index: primary key, or effect_target and effect_path.
    const rows = this.#db.prepare<unknown[], EffectRecord>(
      `SELECT seq, at, phase, of_seq AS ofSeq, class, operation, account, target, path, bytes, workflow,
         run_id AS runId, step, event_seq AS eventSeq, code, approval, actor, asked, outcome, proof, error
       FROM effect ${where} ORDER BY seq ${order} LIMIT ?`,
    )
    return rows.all(...values, limit)
  }

  #writeOnce(runId: string, step: Checkpoint, input: string | null): void {
    const { key, target } = step
    this.#writes.done.run({ runId, step: key, target, input, ...endOf(step), ...readEnd(step) })
  }
}

/** Index: primary keys of effect, step, run and event. */
function prepareWrites(db: Database) {
  const account = `coalesce((SELECT account FROM event WHERE seq = run.event_seq), run.account, 'default')`
  return {
    findBegun: db
      .prepare<[string, string], number | null>('SELECT effect_seq FROM step WHERE run_id = ? AND key = ?')
      .pluck(),
    find: db.prepare<[number], Begun>(
      'SELECT at, class, account, target, path, bytes, workflow, code, event_seq, approval FROM effect WHERE seq = ?',
    ),
    begin: db.prepare(
      `INSERT INTO effect (at, phase, class, operation, account, target, path, bytes, workflow, run_id, step,
         event_seq, code, approval, asked)
       SELECT @now, 'begun', @class, @operation, @account, @target, @path, @bytes, @workflow, @runId, @step,
         event_seq, code_hash, @approval, @asked FROM run WHERE id = @runId`,
    ),
    mark: db.prepare('UPDATE step SET effect_seq = ?, permits = 1 WHERE run_id = ? AND key = ?'),
    repeat: db.prepare('UPDATE step SET permits = permits + 1 WHERE run_id = ? AND key = ?'),
    countPermits: db.prepare<[string, string], number>('SELECT permits FROM step WHERE run_id = ? AND key = ?').pluck(),
    end: db.prepare(
      `INSERT INTO effect (at, phase, of_seq, class, operation, account, target, path, bytes, workflow, run_id, step,
         event_seq, code, approval, outcome, proof, error)
       VALUES (@endedAt, 'ended', @seq, @class, @operation, @account, @target, @path, @bytes, @workflow, @runId, @step,
         @event_seq, @code, @approval, @outcome, @proof, @error)`,
    ),
    done: db.prepare(
      `INSERT INTO effect (at, phase, class, operation, account, target, workflow, run_id, step, event_seq, code, asked,
         outcome, proof, error)
       SELECT @endedAt, 'done', 'write', @operation, ${account}, @target, workflow, @runId, @step, event_seq, code_hash,
         @input, @outcome, @proof, @error FROM run WHERE id = @runId`,
    ),
    note: db.prepare(
      `INSERT INTO effect (at, phase, of_seq, class, operation, account, target, path, bytes, workflow, run_id, step,
         approval, actor, asked, outcome, proof, error)
       VALUES (@at, @phase, @ofSeq, @class, @operation, @account, @target, @path, @bytes, @workflow, @runId, @step,
         @approval, @actor, @asked, @outcome, @proof, @error)`,
    ),
  }
}

function endOf({ key, kind, error, finishedAt, startedAt }: Checkpoint) {
  const message = error === null ? null : `${error.name}: ${error.message}`
  return {
    endedAt: finishedAt ?? startedAt,
    operation: kind === 'run' ? key.replace(/\[.*$/s, '') : kind,
    error: message,
  }
}

/** The outcome that a Files call reports; `done` or `failed` for any other step. */
function readEnd({ status, output }: Checkpoint): { outcome: string | null; proof: string | null } {
  if (status === 'failed') return { outcome: 'failed', proof: null }
  const result: unknown = output !== null && output.length < 1_000 ? JSON.parse(output) : null
  if (!isPlainObject(result) || typeof result.outcome !== 'string') return { outcome: 'done', proof: null }
  return { outcome: result.outcome, proof: typeof result.proof === 'string' ? result.proof : null }
}

/** The storage of a target such as `storage_a:fil_1`; null for any other. */
export function storageOf(target: string | null) {
  return STORAGES.find((storage) => target?.startsWith(`${storage}:`)) ?? null
}

function nulls<T extends object>(row: T): { [Key in keyof T]: Exclude<T[Key], undefined> | null } {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? null])) as never
}

function describeFilter({ phases, target, path, runId, workflow, since, until, before, after }: EffectFilter) {
  const conditions: Condition[] = []
  if (target !== undefined) conditions.push(['target = ?', target])
  if (path !== undefined) conditions.push(['path = ?', path])
  if (before !== undefined) conditions.push(['seq < ?', before])
  if (after !== undefined) conditions.push(['seq > ?', after])
  if (phases !== undefined) conditions.push(['phase IN (SELECT value FROM json_each(?))', JSON.stringify(phases)])
  if (runId !== undefined) conditions.push(['run_id = ?', runId])
  if (workflow !== undefined) conditions.push(['workflow = ?', workflow])
  if (since !== undefined) conditions.push(['at >= ?', since])
  if (until !== undefined) conditions.push(['at < ?', until])
  return buildWhere(conditions)
}
