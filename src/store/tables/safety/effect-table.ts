import { isPlainObject } from '../../../core/json.ts'
import { type Checkpoint, LEFT_ALONE } from '../../../core/runs/step.ts'
import type { SavedWithStep } from '../../../core/runs/wait.ts'
import { completeState, type EffectAsk, type EffectRecord, type FileState } from '../../../core/safety/effect.ts'
import { folderOf } from '../../../core/safety/folders.ts'
import { describeAct, type OutsideAct } from '../../../core/safety/ledger/outside-act.ts'
import { STORAGES } from '../../../core/service/storage.ts'
import { type Connection, JoinedTable } from '../../connection.ts'
import { isLongTextOf } from '../../dialect.ts'
import { ofRun } from '../../rows/run-sql.ts'
import type { GuardTable } from './guard-table.ts'

/** The effect ledger. Its rows are appended; a trigger refuses to change one. */
export class EffectTable extends JoinedTable<{ guard: GuardTable }> {
  readonly #writes = prepareWrites(this.db)

  /** The ledger row in which a step's effect began; null where it has not. */
  readonly findBegun = this.readValue<[runId: string, key: string], number>(
    'SELECT effect_seq FROM step WHERE run_id = ? AND key = ?',
  )

  /** The steps among these whose effects have begun, with the states that bind them. */
  readonly listBegun = this.readRows<[runId: string, keys: readonly string[]], Bonds>(
    `SELECT step.key AS step, effect.target, effect.expect, step.seen
     FROM step LEFT JOIN effect ON effect.seq = step.effect_seq
     WHERE step.run_id = ? AND ${this.db.sql.isOneOf('step.key', 'text')} AND step.effect_seq IS NOT NULL`,
  )

  /** Appends the beginning of an effect, and marks its step. */
  async begin(runId: string, ask: EffectAsk, { approval, by, expect: approved, now }: Grant): Promise<void> {
    const { step, asked, account, workflow, operation } = ask
    const expect = completeState(approved, ask.expect ?? null)
    const actor = by?.join(', ') ?? null
    await this.#lock()
    const seq = await this.#writes.begin.get({
      now,
      runId,
      account,
      workflow,
      operation,
      approval,
      actor,
      class: ask.class,
      step: step.key,
      target: step.target,
      path: asked?.path ?? null,
      bytes: asked?.bytes ?? null,
      asked: asked === null ? null : JSON.stringify(asked),
      expect: expect === null ? null : describeState(expect),
    })
    await this.#writes.mark.run(seq, runId, step.key)
  }

  /** Effects that have begun begin again: their first attempts have no known end. */
  readonly repeat = this.write<[runId: string, keys: readonly string[]]>(
    `UPDATE step SET permits = permits + 1 WHERE run_id = ? AND ${this.db.sql.isOneOf('key', 'text')}`,
  )

  /**
   * Appends the end of a step's effect. A delete that left the file alone is no longer counted. It
   * keeps it where an attempt before may have worked.
   */
  async end(
    runId: string,
    step: Checkpoint,
    { input, before = null, isUntargeted }: StepFacts = { input: null },
  ): Promise<void> {
    const seq = await this.findBegun(runId, step.key)
    if (seq === null) {
      const hasRow = step.target !== null || isUntargeted === true
      if (step.effect === 'write' && hasRow) await this.#writeOnce(runId, step, input)
      return
    }
    const begun = await this.#writes.find.get(seq)
    if (!begun) {
      // Retention took its beginning.
      await this.#writeOnce(runId, step, input, before)
      return
    }
    const { outcome, proof } = readEnd(step)
    await this.#lock()
    await this.#writes.end.run({ ...begun, seq, runId, step: step.key, ...endOf(step), outcome, proof, before })
    if (begun.class !== 'delete' || outcome === null || !LEFT_ALONE.includes(outcome)) return
    if ((await this.#writes.countPermits.get(runId, step.key)) !== 1) return
    const place = { storage: storageOf(begun.target), folder: folderOf(begun.path) }
    const source = { runId, workflow: begun.workflow, account: begun.account, ...place }
    const size = { count: 1, bytes: begun.bytes ?? 0 }
    await this.parts.guard.refund(source, begun.approval === null ? 'delete' : 'approved', size, begun.at)
  }

  /** Appends a decision, a switch, or an action by hand; returns the number of its row. */
  async note(row: Note): Promise<number> {
    await this.#lock()
    return (await this.#writes.note.get({ ...EMPTY_NOTE, ...row })) ?? 0
  }

  /** Appends a call past the ledger, unless its run has a row of the same call and place. */
  async noteOutside(act: OutsideAct): Promise<void> {
    const { run, call, where } = act
    if ((await this.#writes.findNoted.get(run, call, where)) === undefined) await this.note(describeAct(act))
  }

  /** Deletes up to `limit` of the oldest rows up to a number; returns how many. */
  readonly prune = this.countChanged<[upTo: number, limit: number]>(
    `DELETE FROM effect
     WHERE ${this.db.sql.isAmong('seq', 'SELECT seq FROM effect WHERE seq <= ? ORDER BY seq LIMIT ?')}`,
  )

  /** The deletes of targets whose runs are pruned, as the steps that they were. */
  async listDeletes(account: string, targets: readonly string[]): Promise<Checkpoint[]> {
    const rows = await this.#writes.listPruned.all([...targets], [...targets], account)
    const ends = new Map(rows.map((row) => [row.ofSeq, row]))
    return rows.filter(({ phase }) => phase === 'begun').map((row) => toStep(row, ends.get(row.seq)))
  }

  /** Seals wait for it: the rows below a number that they cover are all committed. */
  async #lock(): Promise<void> {
    await this.db.lock(['ledger'], 'shared')
  }

  async #writeOnce(runId: string, step: Checkpoint, input: string | null, before: string | null = null): Promise<void> {
    const { key, target, effect } = step
    await this.#lock()
    await this.#writes.done.run({
      runId,
      step: key,
      class: effect,
      target,
      input,
      before,
      ...endOf(step),
      ...readEnd(step),
    })
  }
}

/** Index: primary keys of effect, step, run, event and approval_vote; effect_target, effect_run. */
function prepareWrites(db: Connection) {
  const ofEvent = `(SELECT account FROM event WHERE ${db.sql.isEvent('run.event_seq')})`
  const code = ofRun('code_hash', 'run.id')
  return {
    find: db.prepare<[number], Begun>(
      `SELECT at, class, account, target, path, bytes, workflow, code, event_seq, approval, actor
       FROM effect WHERE seq = ?`,
    ),
    begin: db.pluck<
      [object],
      number
    >(`INSERT INTO effect (at, phase, class, operation, account, target, path, bytes, workflow, run_id, step,
         event_seq, code, approval, actor, asked, expect)
       SELECT CAST(@now AS bigint), 'begun', @class, @operation, @account, @target, @path, CAST(@bytes AS bigint),
         @workflow, run.id, @step, event_seq, ${code}, @approval, @actor, @asked, @expect
       FROM run WHERE run.id = @runId RETURNING seq`),
    mark: db.prepare('UPDATE step SET effect_seq = ?, permits = 1 WHERE run_id = ? AND key = ?'),
    countPermits: db.pluck<[string, string], number>('SELECT permits FROM step WHERE run_id = ? AND key = ?'),
    end: db.prepare(
      `INSERT INTO effect (at, phase, of_seq, class, operation, account, target, path, bytes, workflow, run_id, step,
         event_seq, code, approval, actor, before, outcome, proof, error)
       VALUES (@endedAt, 'ended', @seq, @class, @operation, @account, @target, @path, @bytes, @workflow, @runId, @step,
         @eventSeq, @code, @approval, @actor, ${BEFORE}, @outcome, @proof, @error)`,
    ),
    done: db.prepare(
      `INSERT INTO effect (at, phase, class, operation, account, target, workflow, run_id, step, event_seq, code, asked,
         before, outcome, proof, error)
       SELECT CAST(@endedAt AS bigint), 'done', @class, @operation, coalesce(${ofEvent}, run.account, 'default'),
         @target, run.workflow, run.id, @step, event_seq, ${code}, @input, ${BEFORE}, @outcome, @proof, @error
       FROM run WHERE run.id = @runId`,
    ),
    // An operator's deletes have no run, and are nobody's step.
    listPruned: db.prepare<[string[], string[], string], LedgerDelete>(
      `SELECT seq, at, phase, of_seq, step, target, outcome, proof, error FROM effect
       WHERE ${isLongTextOf('target', db.sql)} AND account = ? AND class = 'delete' AND run_id IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM run WHERE id = effect.run_id)`,
    ),
    findNoted: db.pluck<[string | null, string, string], number>(FIND_NOTED),
    note: db.pluck<
      [object],
      number
    >(`INSERT INTO effect (at, phase, of_seq, class, operation, account, target, path, bytes, workflow, run_id, step,
         approval, actor, asked, expect, before, outcome, proof, error)
       VALUES (@at, @phase, @ofSeq, @class, @operation, @account, @target, @path, @bytes, @workflow, @runId, @step,
         @approval, @actor, @asked, @expect, @before, @outcome, @proof, @error) RETURNING seq`),
  }
}

/** The rows of a delete, as far as a step can be made of them. */
type LedgerDelete = Pick<
  EffectRecord,
  'seq' | 'at' | 'phase' | 'ofSeq' | 'step' | 'target' | 'outcome' | 'proof' | 'error'
>

/** The end of a step, in the words of the ledger. */
export function endOf({ key, kind, error, finishedAt, startedAt }: Checkpoint) {
  const message = error === null ? null : `${error.name}: ${error.message}`
  return {
    endedAt: finishedAt ?? startedAt,
    operation: kind === 'run' ? key.replace(/\[.*$/s, '') : kind,
    error: message,
  }
}

/** A state of a file as the ledger keeps it: JSON text. */
export function describeState({ path, bytes, modifiedAt }: FileState): string {
  return JSON.stringify({ path, bytes, modifiedAt })
}

/** The step of a delete, as far as the ledger knows it. */
function toStep({ at, step, target }: LedgerDelete, end: LedgerDelete | undefined): Checkpoint {
  const [, name = 'Error', message = ''] = /^([^:]+): (.*)$/s.exec(end?.error ?? '') ?? []
  const status = end === undefined ? 'started' : end.outcome === 'failed' ? 'failed' : 'completed'
  return {
    key: step ?? '',
    position: 0,
    kind: 'run',
    effect: 'delete',
    status,
    attempt: 1,
    target,
    output: status === 'completed' ? JSON.stringify({ outcome: end?.outcome, proof: end?.proof }) : null,
    error: status === 'failed' ? { name, message } : null,
    startedAt: at,
    finishedAt: end?.at ?? null,
    dueAt: null,
  }
}

/** The outcome that a Files call reports; `done` or `failed` for any other step. */
export function readEnd({ status, output }: Checkpoint): { outcome: string | null; proof: string | null } {
  if (status === 'failed') return { outcome: 'failed', proof: null }
  const result: unknown = output !== null && output.length < 1_000 ? JSON.parse(output) : null
  if (!isPlainObject(result) || typeof result.outcome !== 'string') return { outcome: 'done', proof: null }
  return { outcome: result.outcome, proof: typeof result.proof === 'string' ? result.proof : null }
}

/** True where the end of a step ends an effect: a delete, or a write with a target. */
export function isInLedger({ status, effect, target }: Checkpoint, saved: SavedWithStep | undefined): boolean {
  if (effect === 'read' || (status !== 'completed' && status !== 'failed')) return false
  return effect === 'delete' || target !== null || saved?.effect !== undefined
}

/** The storage of a target such as `storage_a:fil_1`; null for any other. */
function storageOf(target: string | null) {
  return STORAGES.find((storage) => target?.startsWith(`${storage}:`)) ?? null
}

/** The columns of a note that say nothing. */
const EMPTY_NOTE = {
  class: 'guard',
  ofSeq: null,
  account: null,
  target: null,
  path: null,
  bytes: null,
  workflow: null,
  runId: null,
  step: null,
  approval: null,
  actor: null,
  asked: null,
  expect: null,
  before: null,
  outcome: null,
  proof: null,
  error: null,
} satisfies Partial<EffectRecord>

/** A row that tells of a person, not of a run. */
export type Note = Partial<EffectRecord> & Pick<EffectRecord, 'at' | 'phase' | 'operation'>

export type StepFacts = NonNullable<SavedWithStep['effect']>

/** The bonds of an effect that has begun: its target, and its states as allowed and as found. */
export interface Bonds {
  step: string
  /** Null where it has none, or its row is gone. */
  target: string | null
  /** JSON text of a state, or null. */
  expect: string | null
  seen: string | null
}

/** A permit, as the row that begins an effect keeps it. */
interface Grant {
  approval: string | null
  /** The people who approved it; null without an approval. */
  by: readonly string[] | null
  /** The state that the approval is for; null without one. */
  expect: FileState | null
  now: number
}

type Begun = Pick<EffectRecord, 'at' | 'target' | 'path' | 'bytes' | 'code' | 'approval' | 'actor'> & {
  account: string
  class: 'delete' | 'write'
  workflow: string
  eventSeq: number | null
}

/** A call that finds nothing, as after a crash, has the state that an earlier request noted. */
const BEFORE = 'coalesce(@before, (SELECT seen FROM step WHERE step.run_id = @runId AND key = @step))'

/** A row of a call past the ledger; index effect_run. */
const FIND_NOTED = "SELECT seq FROM effect WHERE run_id = ? AND phase = 'noted' AND operation = ? AND outcome = ?"
