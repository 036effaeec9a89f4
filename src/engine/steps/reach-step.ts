import { Interrupted, isA, StepError, UpshotError } from '../../core/errors.ts'
import {
  type Checkpoint,
  decideMismatch,
  type Effect,
  hasOutcome,
  isFinished,
  isInterrupted,
  REPEATED_NAME_WARNING,
  type StepKind,
  type StepName,
} from '../../core/runs/step.ts'
import { silence } from '../../core/thenable.ts'
import { findCallSite } from '../pass/find-call-site.ts'
import { neverSettles } from '../pass/parking.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { currentStep } from '../pass/scope.ts'
import { describeUnsaved } from '../pass/wait.ts'

/** A call of the author's code. */
interface StepRequest {
  name: StepName
  kind: StepKind
  effect: Effect
  /** False: a replay begins the step again, because its result is not stored. Default true. */
  keep?: boolean | undefined
}

/** A step that the author's code has reached. */
export interface ReachedStep {
  key: string
  /** Its row from an earlier pass. */
  known: Checkpoint | undefined
}

/**
 * Gives a step its recorded outcome in its turn, through `revive`; calls `begin` where it has none.
 * A rejection that nobody handles ends nothing: code may await a step later, or never.
 */
export function takeStep<T>(
  pass: Pass,
  { name, kind, effect, keep }: StepRequest,
  begin: (step: ReachedStep) => Promise<T>,
  revive?: (output: unknown, key: string) => Promise<T>,
): Promise<T> {
  try {
    const reached = reachStep(pass, name, kind, effect)
    if (!reached) return neverSettles()
    const { known } = reached
    if (!known || keep === false || !isFinished(known)) return silence(begin(reached))
    const replayed = replayStep(pass, known)
    if (known.status === 'failed') silence(replayed)
    return revive ? replayed.then((output) => revive(output, known.key)) : (replayed as Promise<T>)
  } catch (error) {
    return silence(Promise.reject(error))
  }
}

/**
 * Null where the step may not begin: the pass is ending, or the code contradicts the journal.
 * Throws `nested_step` inside a step, and `run_ended` once the author's function has ended.
 */
export function reachStep(pass: Pass, name: StepName, kind: StepKind, effect: Effect): ReachedStep | null {
  noteCall(pass, name)
  const { order } = pass
  if (pass.parking.isClosed) {
    order.noteMove()
    return null
  }
  const reached = findStep(pass, name)
  const { key, known } = reached
  order.noteMove()
  if (known?.settled === 0 && kind !== 'patch') order.expectByName(key)
  pass.places.note(typeof name === 'string' ? name : name[0])
  if (reached.isRepeated) warnOfRepetition(pass, String(name))
  if (reached.isShared) warnOfSharing(pass, String(name))
  if (order.isReplaying && !hasOutcome(known)) {
    order.hold(known === undefined, () => ({ key, kind, place: findCallSite() }))
  }
  const mismatch = known ? decideMismatch({ at: 'step', known, kind, effect }, pass.isCodeChanged) : null
  if (mismatch === null) return reached
  const place = findCallSite()
  void pass.parking.halt(place === null ? mismatch : `${mismatch}, at ${place}`)
  return null
}

/** Looks a step up in the journal. The fault of a bad name has its place in the author's code. */
function findStep(pass: Pass, name: StepName): ReturnType<Pass['journal']['reach']> {
  try {
    return pass.journal.reach(name)
  } catch (error) {
    const place = findCallSite()
    if (place === null || !isA(error, UpshotError)) throw error
    throw new UpshotError(error.code, `${error.message.replace(/\.$/, '')}, at ${place}.`)
  }
}

/**
 * Counts a call; one too many halts the pass. Throws for a call inside a step, or after the end of
 * the author's function.
 */
export function noteCall(pass: Pass, name: StepName): void {
  if (pass.journal.noteCall() > pass.maxSteps) return void pass.parking.halt(describeTooMany(pass))
  const outer = currentStep(pass)
  if (outer) throw refuseNested(outer.key, name)
  if (pass.parking.hasCodeEnded) throw describeEnded(pass, name)
}

/** The row of a step that begins for the first time. */
export function newStep(pass: Pass, part: Pick<Checkpoint, 'key' | 'kind' | 'effect'>): Checkpoint {
  return {
    ...part,
    position: pass.journal.takePosition(),
    status: 'waiting',
    attempt: 1,
    output: null,
    error: null,
    target: null,
    startedAt: pass.clock.now(),
    finishedAt: null,
    dueAt: null,
  }
}

/**
 * Null where a reached step may begin now. The result resolves at the end of the replay, with
 * false where the pass ends meanwhile.
 */
export function holdStep(pass: Pass): Promise<boolean> | null {
  return pass.order.isReplaying ? pass.order.over().then(() => !pass.parking.isClosed) : null
}

/** The result of a finished step, when its turn has come. Rejects with its failure. */
export function replayStep(pass: Pass, step: Checkpoint): Promise<unknown> {
  return step.apartBytes === undefined ? repeatOutcome(pass, step) : replayApart(pass, step)
}

/** Reads from the store on behalf of a step. If that fails, the pass ends and nothing settles. */
export async function readDuringPass<T>(pass: Pass, read: () => Promise<T>): Promise<T> {
  pass.parking.enterStep()
  try {
    return await read()
  } catch (error) {
    return pass.parking.endPass({ kind: 'broken', error })
  } finally {
    pass.parking.leaveStep()
  }
}

/** Resolves when every step so far is on disk. If that fails, the pass ends and nothing settles. */
export async function awaitSaved(pass: Pass): Promise<void> {
  const saving = pass.journal.barrier()
  if (!saving) return
  pass.parking.enterStep()
  const end = await saving.then(() => null, describeUnsaved)
  if (end) await pass.parking.endPass(end)
  pass.parking.leaveStep()
}

async function replayApart(pass: Pass, step: Checkpoint): Promise<unknown> {
  const output = await readDuringPass(pass, () => pass.store.readOutput(pass.run.lease.runId, step.key))
  return repeatOutcome(pass, { ...step, output })
}

/** One promise and no `await`: a replay of many steps spends most of its time here. */
function repeatOutcome(pass: Pass, step: Checkpoint): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const deliver = () => {
      pass.journal.noteDelivery(step)
      if (step.status === 'failed') return reject(describeFailure(step))
      try {
        resolve(step.output === null ? undefined : JSON.parse(step.output))
      } catch (error) {
        reject(error)
      }
    }
    pass.order.repeat(step, deliver)
  })
}

export function describeFailure(step: Checkpoint): Error {
  const { key, attempt, error } = step
  if (isInterrupted(step)) return new Interrupted(key)
  return new StepError(key, attempt, error ?? { name: 'Error', message: 'unknown failure' })
}

function describeTooMany({ maxSteps, run }: Pass): string {
  const place = findCallSite()
  return (
    `it calls more than ${maxSteps.toLocaleString('en')} steps${place === null ? '' : `, at ${place}`}. ` +
    'It probably loops without end: fix the code, or continue in another run with step.continueAs. ' +
    `If it needs more, raise limits.steps of "${run.workflow}" or of the project. Then resume the run`
  )
}

function refuseNested(outer: string, name: StepName): UpshotError {
  return new UpshotError(
    'nested_step',
    `Step "${spell(name)}" was called inside step "${outer}", and a step holds no other. ` +
      'Call it outside. For many at a time: `await Promise.all(items.map((item) => …))`.',
  )
}

function describeEnded({ run }: Pass, name: StepName): UpshotError {
  const step = spell(name)
  return new UpshotError(
    'run_ended',
    `Step "${step}" was called after the function of run ${run.lease.runId} had ended, so it did not run. ` +
      'Await every step.',
    { details: { run: run.lease.runId, workflow: run.workflow, step } },
  )
}

/** Tells of a step that does no more than its commit. `sent`: the event that it makes. */
export function tellCompleted(pass: Pass, { key, target }: Checkpoint, sent?: string): void {
  const about = { ...aboutRun(pass), step: key, effect: 'write', target, attempt: 1, ms: 0 } as const
  pass.publish({ kind: 'step.completed', ...about, ...(sent === undefined ? {} : { sent }) })
}

function spell(name: StepName): string {
  return typeof name === 'string' ? name : `${name[0]}[${name[1]}]`
}

function warnOfRepetition(pass: Pass, step: string): void {
  const { lease, workflow } = pass.run
  pass.publish({ kind: 'step.repeated', run: lease.runId, workflow, step, count: REPEATED_NAME_WARNING })
}

function warnOfSharing(pass: Pass, step: string): void {
  const { lease, workflow } = pass.run
  pass.publish({ kind: 'step.shared', run: lease.runId, workflow, step })
}
