import type { AnyWorkflow } from '../../author/workflow.ts'
import type { Failure } from '../../core/errors.ts'
import type { NoticeOf, Publish } from '../../core/notices.ts'
import type { Recording } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { DIVERGED } from '../../core/runs/step.ts'
import { ManualClock } from '../../core/time.ts'
import { computeDeadline, describeOverdue } from '../pass/deadline.ts'
import { neverSettles } from '../pass/parking.ts'
import { type PlayParts, playPass } from './play-pass.ts'

/**
 * How a run would go on with this code. `diverges`: the code contradicts the journal; `fails`: it
 * throws before it comes further. `halts`: it waits for a person; `skips`: its `where` refuses.
 * `keeps`: it still waits for an event for which the code does not ask any more.
 */
export type Fit = { kind: 'fits' } | { kind: 'diverges' | 'fails' | 'halts' | 'skips' | 'keeps'; reason: string }

/** The reason of a pass that has come to the end of the journal. */
const AT_THE_END = 'the journal ends here'

/**
 * Plays a run on its journal, as the first pass of this code would, up to the journal's end. `now`:
 * the moment of that pass, in epoch milliseconds.
 */
export async function fitRecording(
  parts: PlayParts,
  { recording, workflow, now }: { recording: Recording; workflow: AnyWorkflow; now: number },
): Promise<Fit> {
  const { claim, run, steps } = recording
  const deadline = computeDeadline(workflow, { startedAt: claim.startedAt })
  if (deadline !== null && now >= deadline) return { kind: 'fails', reason: describeOverdue(deadline).message }
  const kept: string[] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'wait.changed') kept.push(describeKept(notice))
    parts.publish?.(notice)
  }
  const outcome = await playPass(
    { ...parts, publish },
    {
      claim,
      workflow,
      known: steps,
      // No wait is over yet: what would end it is not in the journal.
      clock: new ManualClock(lastMoment(recording)),
      openStage: ({ parking }) => ({
        answer: async (step) => {
          await parking.wait(step, null, AT_THE_END)
          return neverSettles()
        },
      }),
    },
  )
  const fit = judge(outcome, run.error)
  const [reason] = kept
  return fit.kind === 'fits' && reason !== undefined ? { kind: 'keeps', reason } : fit
}

function describeKept({ step, target, asked, place }: NoticeOf<'wait.changed'>): string {
  const at = place === null ? '' : ` at ${place}`
  return `step "${step}" still waits for ${target}, and the code asks for ${asked}${at}`
}

function lastMoment({ claim, steps }: Recording): number {
  const moments = steps.map(({ startedAt, finishedAt }) => finishedAt ?? startedAt)
  return Math.max(claim.startedAt, ...moments)
}

/** `known`: the error of a run that waits for its next attempt. */
function judge(outcome: RunOutcome, known: Failure | null): Fit {
  switch (outcome.kind) {
    case 'parked':
      return judgePark(outcome)
    case 'failed':
    case 'retry':
      if (known !== null && known.message === outcome.error.message) return { kind: 'fits' }
      return { kind: 'fails', reason: describeFailure(outcome.error) }
    case 'skipped':
      return { kind: 'skips', reason: outcome.reason }
    case 'expired':
      return { kind: 'fails', reason: outcome.reason }
    case 'canceled':
    case 'lost':
    case 'released':
    case 'queued':
    case 'ready':
    case 'planned':
      throw new Error(`A play cannot end as ${outcome.kind}.`)
    case 'completed':
    case 'continued':
      return { kind: 'fits' }
    default:
      return outcome satisfies never
  }
}

/** A halt has neither a moment nor something that it awaits. */
function judgePark({ dueAt, awaits = [], reason }: Extract<RunOutcome, { kind: 'parked' }>): Fit {
  if (reason.startsWith(DIVERGED)) return { kind: 'diverges', reason: reason.slice(DIVERGED.length) }
  if (reason === AT_THE_END || dueAt !== null || awaits.length > 0) return { kind: 'fits' }
  return { kind: 'halts', reason }
}

function describeFailure({ name, message, step }: Failure): string {
  const text = `${name}: ${message}`
  return step === undefined ? text : `step "${step}": ${text}`
}
