import { describeError, type Failure, StepError, UpshotError } from '../core/errors.ts'
import { toJson } from '../core/json.ts'
import { decideRetry, planRetries } from '../core/retry.ts'
import { type Checkpoint, MOST_OUTPUT_BYTES, type StepName } from '../core/step.ts'
import { parseDuration } from '../core/time.ts'
import type { StepContext, StepOptions } from '../core/workflow.ts'
import { replayStep } from './journal.ts'
import { never, type Park } from './parking.ts'
import type { Pass } from './pass.ts'
import { withTimeout } from './with-timeout.ts'

/** `keep: false`: the result is not written and the function runs again in a replay; only for harmless reads. */
export type StepRequest = StepOptions & { keep?: boolean }
type StepFunction<T> = (context: StepContext) => T | Promise<T>

const DEFAULT_TIMEOUT = '5m'

/** Gives back a finished step's result; otherwise makes one attempt and settles it in the journal. */
export async function runStep<T>(
  pass: Pass,
  name: StepName,
  fn: StepFunction<T>,
  options: StepRequest = {},
): Promise<T> {
  if (pass.parking.isClosed) return never()
  const { key, known } = pass.journal.reach(name)
  if (known && known.status !== 'waiting' && options.keep !== false) return replayStep(known) as T
  if (known?.dueAt != null && known.dueAt > pass.clock.now()) {
    return pass.parking.wait(known.dueAt, describeWait(key, known.error))
  }
  pass.parking.enter()
  const end = await attemptStep(pass, begin(pass, key, known, options), fn, options)
  pass.parking.leave()
  switch (end.kind) {
    case 'completed':
      return end.value
    case 'failed':
      throw end.error
    case 'again':
      return pass.parking.wait(end.dueAt, describeWait(key, end.error))
    case 'unsaved':
      return pass.parking.abandon(end.park)
    default:
      return end satisfies never
  }
}

/** The step's row as this attempt begins. */
function begin(pass: Pass, key: string, known: Checkpoint | undefined, options: StepRequest): Checkpoint {
  return {
    key,
    position: known?.position ?? pass.journal.takePosition(),
    effect: options.effect ?? 'write',
    status: 'waiting',
    attempt: (known?.attempt ?? 0) + 1,
    output: null,
    error: known?.error ?? null,
    target: options.target ?? null,
    startedAt: pass.clock.now(),
    finishedAt: null,
    dueAt: null,
  }
}

type AttemptEnd<T> =
  | { kind: 'completed'; value: T }
  /** For good: what the author's code is to see. */
  | { kind: 'failed'; error: StepError }
  | { kind: 'again'; dueAt: number; error: Failure }
  /** What came before could not be written, so nothing more may happen. */
  | { kind: 'unsaved'; park: Extract<Park, { kind: 'lost' | 'broken' }> }

async function attemptStep<T>(
  pass: Pass,
  step: Checkpoint,
  fn: StepFunction<T>,
  options: StepRequest,
): Promise<AttemptEnd<T>> {
  // Written down before it happens: the service may tell of a delete sooner than it answers, and whoever is told must know whose it was.
  if (step.effect === 'delete') pass.journal.record({ ...step, attempt: step.attempt - 1 })
  // Nothing may touch the outside on the strength of a result that a crash could still take back.
  const unsaved = step.effect === 'read' ? null : await pass.journal.barrier().then(() => null, describeUnsaved)
  if (unsaved) return unsaved
  try {
    const limitMs = parseDuration(options.timeout ?? pass.stepTimeout ?? DEFAULT_TIMEOUT)
    const value = await withTimeout(pass, step, limitMs, fn)
    const output = readOutput(step.key, options.keep === false ? null : value)
    complete(pass, step, output)
    return { kind: 'completed', value: options.keep === false ? value : JSON.parse(output) }
  } catch (error) {
    return failAttempt(pass, step, error, options)
  }
}

function complete(pass: Pass, step: Checkpoint, output: string): void {
  const finishedAt = pass.clock.now()
  const { key, effect, target, attempt } = step
  pass.journal.record({ ...step, status: 'completed', output, error: null, finishedAt })
  const { lease, workflow } = pass.run
  const ms = finishedAt - step.startedAt
  pass.publish({ kind: 'step.completed', run: lease.runId, workflow, step: key, effect, target, attempt, ms })
}

/** Keeps the failure and decides whether there is another attempt. */
function failAttempt(pass: Pass, step: Checkpoint, error: unknown, options: StepRequest): AttemptEnd<never> {
  const now = pass.clock.now()
  const policy = planRetries(options.retry, pass.retry)
  const decision = decideRetry({ error, attempt: step.attempt, policy, now, random: pass.random() })
  const failure = describeError(error)
  const record = { key: step.key, attempt: step.attempt, at: now, error: failure }
  publishFailure(pass, step, decision.kind === 'retry' ? decision.at : null, failure)
  if (decision.kind === 'give_up') {
    pass.journal.record({ ...step, status: 'failed', error: failure, finishedAt: now }, record)
    return { kind: 'failed', error: new StepError(step.key, step.attempt, failure) }
  }
  const attempt = decision.counts ? step.attempt : step.attempt - 1
  // Told to wait again and again for the same reason, a step keeps it once.
  const isKnown = !decision.counts && step.error?.message === failure.message
  const waiting = { ...step, attempt, error: failure, dueAt: decision.at }
  if (isKnown) pass.journal.record(waiting)
  else pass.journal.record(waiting, record)
  return { kind: 'again', dueAt: decision.at, error: failure }
}

/** What a person reads of the run meanwhile. */
function describeWait(key: string, error: Failure | null): string {
  const reason = `next attempt of step "${key}"`
  return error ? `${reason}: ${error.message}` : reason
}

function publishFailure(pass: Pass, { key, attempt }: Checkpoint, retryAt: number | null, error: Failure): void {
  const { lease, workflow } = pass.run
  pass.publish({ kind: 'step.failed', run: lease.runId, workflow, step: key, attempt, retryAt, error })
}

function describeUnsaved(error: unknown): AttemptEnd<never> {
  const isStale = error instanceof UpshotError && error.code === 'stale_lease'
  return { kind: 'unsaved', park: isStale ? { kind: 'lost' } : { kind: 'broken', error } }
}

function readOutput(key: string, value: unknown): string {
  const output = toJson(value)
  if (Buffer.byteLength(output) <= MOST_OUTPUT_BYTES) return output
  throw new UpshotError(
    'output_too_large',
    `Step "${key}" returned more than ${MOST_OUTPUT_BYTES} bytes of JSON. Return a summary, or a path of a file it wrote.`,
  )
}
