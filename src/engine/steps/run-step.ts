import type { OnceStepOptions, StepContext } from '../../author/steps/step-api.ts'
import {
  describeError,
  type Failure,
  Interrupted,
  isA,
  isSameReason,
  StepError,
  UpshotError,
} from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import { decideRetry, NEXT_ATTEMPT_REASON, planRetries, waitsForLimit } from '../../core/runs/retry.ts'
import { type Checkpoint, hasOutcome, isFinished, numberOf, type StepName, stepNameOf } from '../../core/runs/step.ts'
import type { SavedWithStep } from '../../core/runs/wait.ts'
import type { EffectPermit } from '../../core/safety/effect.ts'
import { isThenable } from '../../core/thenable.ts'
import { parseDuration } from '../../core/time.ts'
import { packOutput } from '../pass/pack-output.ts'
import { neverSettles } from '../pass/parking.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { isLate } from '../pass/step-stub.ts'
import { describeUnsaved, type Park } from '../pass/wait.ts'
import { findOptionFault } from './find-option-fault.ts'
import { askGuard, type EffectFacts, needsPermit, publishEnd, publishHeld, StoppedLate } from './guard/ask-guard.ts'
import { describeEffect, describeInput, describeSaved, describeTarget, isUntargeted } from './guard/describe-effect.ts'
import { holdStep, type ReachedStep, replayStep, takeStep } from './reach-step.ts'
import { giveOutcome } from './stub-step.ts'
import { withTimeout } from './with-timeout.ts'

/**
 * `keep: false`: the result is not stored and a replay calls the function again; only for reads.
 */
type StepRequest = OnceStepOptions & { keep?: boolean; facts?: EffectFacts; dry?: () => unknown }
/** `key`: the step's key, which authors' functions are not given. */
type StepFunction<T> = (context: StepContext, key: string) => T | Promise<T>

const DEFAULT_TIMEOUT_MS = 300_000

/** Returns a finished step's result; otherwise makes one attempt and records it in the journal. */
export function runStep<T>(pass: Pass, name: StepName, fn: StepFunction<T>, options: StepRequest = {}): Promise<T> {
  const { effect = 'write', keep } = options
  return takeStep(pass, { name, kind: 'run', effect, keep }, async (reached) => {
    let end = await driveStep(pass, reached, fn, options)
    while (end.kind === 'parked') end = await end.due.then(end.resume)
    if (end.kind === 'failed') throw end.error
    return end.value
  })
}

export type StepEnd<T> =
  | { kind: 'completed'; value: T }
  /** Without another attempt: the author's code gets this error. */
  | { kind: 'failed'; error: unknown }
  /** `due` resolves only where the pass is still at work when it may `resume`. */
  | { kind: 'parked'; due: Promise<void>; resume: () => Promise<StepEnd<T>> }

/** Like {@link runStep} for a step that is reached already; always settles, parked or not. */
export async function driveStep<T>(
  pass: Pass,
  { key, known }: ReachedStep,
  fn: StepFunction<T>,
  options: StepRequest,
): Promise<StepEnd<T>> {
  if (known && isFinished(known) && options.keep !== false) return endOf(replayStep(pass, known) as Promise<T>)
  // Options are checked while the step holds no slot and has done nothing.
  const fault = findOptionFault(key, options)
  if (fault) return { kind: 'failed', error: fault }
  const held = hasOutcome(known) ? null : holdStep(pass)
  if (held && !(await held)) return endLater()
  if (known?.status === 'started' && !pass.stub) return failInterrupted(pass, known)
  const tryAgain = (row: Checkpoint) => parkUntil(pass, row, () => driveStep(pass, { key, known: row }, fn, options))
  if (known?.dueAt != null && known.dueAt > pass.clock.now()) return tryAgain(known)
  if (pass.parking.isClosed) return endLater()
  const step = begin(pass, key, known, options)
  const given = pass.stub && (await pass.stub.answer(step, { effect: describeEffect(options) }))
  if (given) return endOf(giveOutcome(pass, step, given) as Promise<T>)
  let end: AttemptEnd<T>
  pass.parking.enterStep(step)
  try {
    end = await attemptStep(pass, step, { fn, options, isHeld: known?.attempt === 0 })
  } finally {
    if (pass.parking.hasCodeEnded) noteJoin(pass, key)
    pass.parking.leaveStep(step)
  }
  switch (end.kind) {
    case 'completed':
    case 'failed':
      return end
    case 'again':
      return tryAgain(end.row)
    case 'held': {
      const { until, reason, awaits } = end
      const due = pass.parking.wait(step, until, reason, awaits ? 'decision' : undefined)
      const row: Checkpoint = { ...step, status: 'waiting', attempt: step.attempt - 1 }
      return { kind: 'parked', due, resume: () => driveStep(pass, { key, known: row }, fn, options) }
    }
    case 'late':
      void pass.stub?.endLate?.(step)
      return endLater()
    case 'unsaved':
      void pass.parking.endPass(end.park)
      return endLater()
    default:
      return end satisfies never
  }
}

/** The end of a step whose pass is ending. */
function endLater(): Extract<StepEnd<never>, { kind: 'parked' }> {
  return { kind: 'parked', due: neverSettles(), resume: neverSettles }
}

/** Says that code returned without this step. Code that threw could not await it. */
function noteJoin({ abort, publish, run, places }: Pass, step: string): void {
  const about = { run: run.lease.runId, workflow: run.workflow, step, place: places.find(stepNameOf(step)) }
  if (!abort.signal.aborted) publish({ kind: 'step.joined', ...about })
}

async function endOf<T>(outcome: Promise<T>): Promise<StepEnd<T>> {
  try {
    return { kind: 'completed', value: await outcome }
  } catch (error) {
    return { kind: 'failed', error }
  }
}

/** The run's reason, which a person reads meanwhile, contains the last failure. */
function parkUntil<T>(
  pass: Pass,
  step: Checkpoint,
  resume: () => Promise<StepEnd<T>>,
): Extract<StepEnd<T>, { kind: 'parked' }> {
  const { key, dueAt, error } = step
  const due = pass.parking.wait(step, dueAt, `${NEXT_ATTEMPT_REASON} "${key}"${error ? `: ${error.message}` : ''}`)
  return { kind: 'parked', due, resume }
}

/** The step's row at the beginning of an attempt. */
function begin(pass: Pass, key: string, known: Checkpoint | undefined, options: StepRequest): Checkpoint {
  return {
    key,
    position: known?.position ?? pass.journal.takePosition(),
    kind: 'run',
    effect: options.effect ?? 'write',
    status: options.once ? 'started' : 'waiting',
    attempt: (known?.attempt ?? 0) + 1,
    output: null,
    error: known?.error ?? null,
    target: describeTarget(options),
    startedAt: pass.clock.now(),
    finishedAt: null,
    dueAt: null,
    settled: known && hasOutcome(known) ? numberOf(known) : undefined,
  }
}

type AttemptEnd<T> =
  | Exclude<StepEnd<T>, { kind: 'parked' }>
  | { kind: 'again'; row: Checkpoint }
  /** No permit: a person, the end of a stop, or time lets it go on. */
  | { kind: 'held'; reason: string; until: number | null; awaits: boolean }
  /** The preview has no more time for its function. */
  | { kind: 'late' }
  /** An earlier checkpoint could not be written, so this attempt must not begin. */
  | { kind: 'unsaved'; park: Extract<Park, { kind: 'lost' | 'broken' }> }

async function attemptStep<T>(
  pass: Pass,
  step: Checkpoint,
  { fn, options, isHeld }: { fn: StepFunction<T>; options: StepRequest; isHeld: boolean },
): Promise<AttemptEnd<T>> {
  const isAsked = needsPermit(pass, step, options)
  const refusal = isAsked ? await requirePermit(pass, step, { options, isHeld }) : null
  if (refusal) return refusal
  // Effects wait until every result that they rest on is on disk. See decision 2.
  const needsBarrier = options.once || step.effect !== 'read'
  const saving = needsBarrier ? pass.journal.barrier() : null
  // An `await` only where there is something to await: each costs a turn of the microtask queue.
  const unsaved = saving && (await saving.then(() => null, endUnsaved))
  if (unsaved) return unsaved
  // The lease was lost meanwhile: another pass of the run may be at work.
  if (pass.parking.hasEnded) return { kind: 'unsaved', park: { kind: 'lost' } }
  try {
    const limitMs = parseDuration(options.timeout ?? pass.stepTimeout ?? DEFAULT_TIMEOUT_MS)
    const running = withTimeout(pass, step, limitMs, fn)
    const value = isThenable(running) ? await running : running
    const json = options.keep === false ? 'null' : toJson(value, `The result of step "${step.key}"`)
    const packing = packOutput(pass.store, `Step "${step.key}"`, json)
    const packed = packing && (await packing)
    step.settled = await pass.order.turn(step)
    const saved = describeSaved(options, { isAsked, isUntargeted: isUntargeted(pass, step), packed: packed?.data })
    complete(pass, step, packed ? { apartBytes: packed.bytes } : { output: json }, saved)
    return { kind: 'completed', value: options.keep === false ? value : JSON.parse(json) }
  } catch (error) {
    return isLate(error) ? { kind: 'late' } : failAttempt(pass, step, error, { ...options, hasBegun: true })
  }
}

/** Tells the store that the step's effect is in the ledger. */
const ASKED = { effect: { input: null } } as const

/** Null where the effect may begin now. The permit is on disk then, and so is the step's row. */
async function requirePermit(
  pass: Pass,
  step: Checkpoint,
  { options, isHeld }: { options: StepRequest; isHeld: boolean },
): Promise<AttemptEnd<never> | null> {
  // A `once` step is on disk as started, so that a crash cannot begin it again. The row of a delete
  // is there before its event can arrive.
  const row = options.once ? step : { ...step, attempt: step.attempt - 1 }
  const facts = options.facts ?? { asked: describeInput(options) }
  let permit: EffectPermit
  try {
    permit = await askGuard(pass, { step, row, isHeld }, facts)
  } catch (error) {
    return pass.journal.hasFailed ? endUnsaved(error) : failAttempt(pass, step, error, options)
  }
  if ('closed' in permit && permit.closed) publishEnd(pass, step, permit.closed)
  switch (permit.kind) {
    case 'granted':
      facts.onGranted?.(permit)
      return null
    case 'held': {
      const { reason, until, approval } = permit
      publishHeld(pass, step, permit)
      return { kind: 'held', reason, until, awaits: approval !== null }
    }
    case 'stopped':
      return { kind: 'held', reason: permit.reason, until: null, awaits: true }
    case 'denied':
      return failAttempt(pass, step, new UpshotError('denied', permit.reason), { ...options, retry: { attempts: 1 } })
    default:
      return permit satisfies never
  }
}

function complete(pass: Pass, step: Checkpoint, output: Partial<Checkpoint>, saved: SavedWithStep | undefined): void {
  const finishedAt = pass.clock.now()
  const { key, effect, target, attempt } = step
  const row: Checkpoint = { ...step, ...output, status: 'completed', error: null, finishedAt }
  void pass.journal.record(row, undefined, saved)
  const ms = finishedAt - step.startedAt
  pass.publish({ kind: 'step.completed', ...aboutRun(pass), step: key, effect, target, attempt, ms })
}

/** Records the failure and decides whether there is another attempt. */
async function failAttempt(
  pass: Pass,
  step: Checkpoint,
  error: unknown,
  options: StepRequest & { hasBegun?: boolean },
): Promise<AttemptEnd<never>> {
  const now = pass.clock.now()
  const policy = planRetries(options.retry, pass.retry)
  const decision = options.once
    ? ({ kind: 'give_up' } as const)
    : decideRetry({ error, attempt: step.attempt, policy, now, random: pass.random() })
  if (decision.kind === 'give_up') step.settled = await pass.order.turn(step)
  const failure: Failure = { ...describeError(error), ...(options.once && options.hasBegun ? { once: true } : {}) }
  const record = { key: step.key, attempt: step.attempt, at: now, error: failure }
  const retryAt = decision.kind === 'retry' ? decision.at : null
  if (!isA(error, StoppedLate)) publishFailure(pass, step, { ms: now - step.startedAt, retryAt, error: failure })
  if (decision.kind === 'give_up') {
    const isAsked = needsPermit(pass, step, options)
    const saved = describeSaved(options, { isAsked, isUntargeted: isUntargeted(pass, step) })
    void pass.journal.record({ ...step, status: 'failed', error: failure, finishedAt: now }, record, saved)
    return { kind: 'failed', error: new StepError(step.key, step.attempt, failure) }
  }
  const attempt = decision.counts ? step.attempt : step.attempt - 1
  // A step that is told to wait repeatedly for the same reason records it once.
  const isKnown = !decision.counts && (waitsForLimit(failure) || isSameReason(step.error, failure))
  const row = { ...step, attempt, error: failure, dueAt: decision.at }
  void pass.journal.record(row, isKnown ? undefined : record)
  return { kind: 'again', row }
}

/** A `once` step that had begun in an earlier pass: nobody knows how it ended. */
async function failInterrupted(pass: Pass, step: Checkpoint): Promise<StepEnd<never>> {
  const settled = await pass.order.turn(step)
  const error = new Interrupted(step.key)
  const failure: Failure = { name: error.name, message: error.message, code: error.code, once: true }
  const now = pass.clock.now()
  const record = { key: step.key, attempt: step.attempt, at: now, error: failure }
  void pass.journal.record({ ...step, status: 'failed', error: failure, finishedAt: now, settled }, record, ASKED)
  publishFailure(pass, step, { ms: 0, retryAt: null, error: failure })
  return { kind: 'failed', error }
}

function publishFailure(
  pass: Pass,
  { key, effect, attempt }: Checkpoint,
  end: { ms: number; retryAt: number | null; error: Failure },
): void {
  pass.publish({ kind: 'step.failed', ...aboutRun(pass), step: key, effect, attempt, ...end })
}

function endUnsaved(error: unknown): AttemptEnd<never> {
  return { kind: 'unsaved', park: describeUnsaved(error) }
}
