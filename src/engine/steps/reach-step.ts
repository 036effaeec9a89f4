import { StepError, UpshotError } from '../../core/errors.ts'
import {
  type Checkpoint,
  decideMismatch,
  type Effect,
  REPEATED_NAME_WARNING,
  type StepKind,
  type StepName,
} from '../../core/runs/step.ts'
import type { Pass } from '../pass/pass.ts'

/** A step that the author's code has reached. */
export interface ReachedStep {
  key: string
  /** Its row from an earlier pass. */
  known: Checkpoint | undefined
}

/**
 * Null where the step may not begin: the pass is ending, or the code contradicts the journal.
 * Throws `run_ended` once the author's function has returned or thrown.
 */
export function reachStep(pass: Pass, name: StepName, kind: StepKind, effect: Effect): ReachedStep | null {
  if (pass.parking.hasCodeEnded) throw describeEnded(pass, name)
  if (pass.parking.isClosed) return null
  const { key, known, isRepeated } = pass.journal.reach(name)
  if (isRepeated) warnOfRepetition(pass, String(name))
  const mismatch = known ? decideMismatch({ at: 'step', known, kind, effect }, pass.isCodeChanged) : null
  if (mismatch === null) return { key, known }
  void pass.parking.halt(mismatch)
  return null
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
 * The result of a finished step, or a promise where it has a row of its own. Throws its failure.
 */
export function replayStep(pass: Pass, step: Checkpoint): unknown {
  if (step.status === 'failed') {
    throw new StepError(step.key, step.attempt, step.error ?? { name: 'Error', message: 'unknown failure' })
  }
  if (step.apartBytes === undefined) return JSON.parse(step.output ?? 'null')
  return readApart(pass, step.key)
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

async function readApart(pass: Pass, key: string): Promise<unknown> {
  const json = await readDuringPass(pass, () => pass.store.readOutput(pass.run.lease.runId, key))
  return JSON.parse(json)
}

function describeEnded({ run }: Pass, name: StepName): UpshotError {
  const step = typeof name === 'string' ? name : `${name[0]}[${name[1]}]`
  return new UpshotError(
    'run_ended',
    `Step "${step}" was called after the function of run ${run.lease.runId} had ended, so it did not run. ` +
      'Await every step.',
    { details: { run: run.lease.runId, workflow: run.workflow, step } },
  )
}

function warnOfRepetition(pass: Pass, step: string): void {
  const { lease, workflow } = pass.run
  pass.publish({ kind: 'step.repeated', run: lease.runId, workflow, step, count: REPEATED_NAME_WARNING })
}
