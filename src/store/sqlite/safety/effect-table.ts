import type { Database } from 'better-sqlite3'
import type { Checkpoint } from '../../../core/runs/step.ts'
import { completeState, type EffectAsk, LEFT_ALONE } from '../../../core/safety/effect.ts'
import { folderOf } from '../../../core/safety/folders.ts'
import { describeAct, type OutsideAct } from '../../../core/safety/ledger/outside-act.ts'
import type { Begun, Grant, Note, StepFacts } from '../../rows/safety/effect-rows.ts'
import {
  describeState,
  endOf,
  FIND_NOTED,
  type LedgerDelete,
  nulls,
  readEnd,
  storageOf,
  toStep,
} from '../../rows/safety/effect-rows.ts'
import type { GuardTable } from './guard-table.ts'

/** The effect ledger. Its rows are appended; a trigger refuses to change one. */
export class EffectTable {
  readonly #guard: GuardTable
  readonly #writes

  constructor(db: Database, guard: GuardTable) {
    this.#guard = guard
    this.#writes = prepareWrites(db)
  }

  /** The ledger row in which a step's effect began; null where it has not. */
  findBegun(runId: string, key: string): number | null {
    return this.#writes.findBegun.get(runId, key) ?? null
  }

  /** Appends the beginning of an effect, and marks its step. */
  begin(runId: string, ask: EffectAsk, { approval, by, expect: approved, now }: Grant): void {
    const { step, asked, account, workflow, operation } = ask
    const expect = completeState(approved, ask.expect ?? null)
    const actor = by?.join(', ') ?? null
    const { lastInsertRowid } = this.#writes.begin.run({
      ...{ now, runId, account, workflow, operation, approval, actor, class: ask.class },
      ...{ step: step.key, target: step.target, path: asked?.path ?? null, bytes: asked?.bytes ?? null },
      asked: asked === null ? null : JSON.stringify(asked),
      expect: expect === null ? null : describeState(expect),
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
  end(runId: string, step: Checkpoint, { input, before = null, isUntargeted }: StepFacts = { input: null }): void {
    const seq = this.findBegun(runId, step.key)
    if (seq === null) {
      const hasRow = step.target !== null || isUntargeted === true
      if (step.effect === 'write' && hasRow) this.#writeOnce(runId, step, input)
      return
    }
    const begun = this.#writes.find.get(seq)
    if (!begun) {
      // Retention took its beginning.
      this.#writeOnce(runId, step, input, before)
      return
    }
    const { outcome, proof } = readEnd(step)
    this.#writes.end.run({ ...begun, seq, runId, step: step.key, ...endOf(step), outcome, proof, before })
    if (begun.class !== 'delete' || outcome === null || !LEFT_ALONE.includes(outcome)) return
    if (this.#writes.countPermits.get(runId, step.key) !== 1) return
    const place = { storage: storageOf(begun.target), folder: folderOf(begun.path) }
    const source = { runId, workflow: begun.workflow, account: begun.account, ...place }
    const size = { count: 1, bytes: begun.bytes ?? 0 }
    this.#guard.refund(source, begun.approval === null ? 'delete' : 'approved', size, begun.at)
  }

  /** Appends a decision, a switch, or an action by hand; returns the number of its row. */
  note(row: Note): number {
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
      expect,
      before,
      outcome,
      proof,
      error,
    } = row
    const { lastInsertRowid } = this.#writes.note.run({
      ...{ at: row.at, phase: row.phase, operation: row.operation, class: row.class ?? 'guard' },
      ...nulls({ ofSeq, account, target, path, bytes, workflow, runId, step, approval, actor, asked }),
      ...nulls({ expect, before, outcome, proof, error }),
    })
    return Number(lastInsertRowid)
  }

  /** Appends a call past the ledger, once for each run, call and place in it. */
  noteOutside(act: OutsideAct): void {
    const { run, call, where } = act
    if (this.#writes.findNoted.get(run, call, where) === undefined) this.note(describeAct(act))
  }

  /** Deletes up to `limit` of the oldest rows up to a number; returns how many. */
  prune(upTo: number, limit: number): number {
    return this.#writes.prune.run(upTo, limit).changes
  }

  /** The deletes of a target whose runs are pruned, as the steps that they were. */
  listDeletes(account: string, targets: readonly string[]): Checkpoint[] {
    return targets.flatMap((target) => {
      const rows = this.#writes.listPruned.all(target, account)
      const ends = new Map(rows.map((row) => [row.ofSeq, row]))
      return rows.filter(({ phase }) => phase === 'begun').map((row) => toStep(row, ends.get(row.seq)))
    })
  }

  #writeOnce(runId: string, step: Checkpoint, input: string | null, before: string | null = null): void {
    const { key, target, effect } = step
    this.#writes.done.run({ runId, step: key, class: effect, target, input, before, ...endOf(step), ...readEnd(step) })
  }
}

/** Index: primary keys of effect, step, run, event and approval_vote; effect_target, effect_run. */
function prepareWrites(db: Database) {
  const account = `coalesce((SELECT account FROM event WHERE seq = run.event_seq), run.account, 'default')`
  return {
    findBegun: db
      .prepare<[string, string], number | null>('SELECT effect_seq FROM step WHERE run_id = ? AND key = ?')
      .pluck(),
    find: db.prepare<[number], Begun>(
      `SELECT at, class, account, target, path, bytes, workflow, code, event_seq, approval, actor
       FROM effect WHERE seq = ?`,
    ),
    begin: db.prepare(
      `INSERT INTO effect (at, phase, class, operation, account, target, path, bytes, workflow, run_id, step,
         event_seq, code, approval, actor, asked, expect)
       SELECT @now, 'begun', @class, @operation, @account, @target, @path, @bytes, @workflow, @runId, @step,
         event_seq, code_hash, @approval, @actor, @asked, @expect FROM run WHERE id = @runId`,
    ),
    mark: db.prepare('UPDATE step SET effect_seq = ?, permits = 1 WHERE run_id = ? AND key = ?'),
    repeat: db.prepare('UPDATE step SET permits = permits + 1 WHERE run_id = ? AND key = ?'),
    countPermits: db.prepare<[string, string], number>('SELECT permits FROM step WHERE run_id = ? AND key = ?').pluck(),
    end: db.prepare(
      `INSERT INTO effect (at, phase, of_seq, class, operation, account, target, path, bytes, workflow, run_id, step,
         event_seq, code, approval, actor, before, outcome, proof, error)
       VALUES (@endedAt, 'ended', @seq, @class, @operation, @account, @target, @path, @bytes, @workflow, @runId, @step,
         @event_seq, @code, @approval, @actor, @before, @outcome, @proof, @error)`,
    ),
    done: db.prepare(
      `INSERT INTO effect (at, phase, class, operation, account, target, workflow, run_id, step, event_seq, code, asked,
         before, outcome, proof, error)
       SELECT @endedAt, 'done', @class, @operation, ${account}, @target, workflow, @runId, @step, event_seq, code_hash,
         @input, @before, @outcome, @proof, @error FROM run WHERE id = @runId`,
    ),
    // An operator's deletes have no run, and are nobody's step.
    listPruned: db.prepare<[string, string], LedgerDelete>(
      `SELECT seq, at, phase, of_seq AS ofSeq, step, target, outcome, proof, error FROM effect
       WHERE target = ? AND account = ? AND class = 'delete' AND run_id IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM run WHERE id = effect.run_id)`,
    ),
    findNoted: db.prepare<[string | null, string, string], number>(FIND_NOTED).pluck(),
    prune: db.prepare('DELETE FROM effect WHERE seq IN (SELECT seq FROM effect WHERE seq <= ? ORDER BY seq LIMIT ?)'),
    note: db.prepare(
      `INSERT INTO effect (at, phase, of_seq, class, operation, account, target, path, bytes, workflow, run_id, step,
         approval, actor, asked, expect, before, outcome, proof, error)
       VALUES (@at, @phase, @ofSeq, @class, @operation, @account, @target, @path, @bytes, @workflow, @runId, @step,
         @approval, @actor, @asked, @expect, @before, @outcome, @proof, @error)`,
    ),
  }
}
