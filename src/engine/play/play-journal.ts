import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import type { NoticeOf, Publish } from '../../core/notices.ts'
import { computeDeadline, describeOverdue } from '../pass/deadline.ts'
import type { PlayParts } from './play-pass.ts'
import type { RecordedRun } from './play-recorded.ts'
import { playRun } from './play-run.ts'
import { PLAYED_NOTHING, type Played, type PlayedEnd } from './played.ts'

/** Begins the reason of a run that waits for an event for which the code does not ask any more. */
export const KEEPS_WAIT = 'keeps its wait: '

/**
 * Plays a run on its journal, as the first pass of this code would, up to the journal's end. There,
 * the play is open. `now`: the moment of that pass, in epoch milliseconds.
 */
export async function playJournal(
  parts: PlayParts,
  workflow: AnyWorkflow,
  { claim, steps }: RecordedRun,
  now: number,
): Promise<Played> {
  const deadline = computeDeadline(workflow, { startedAt: claim.startedAt })
  if (deadline !== null && now >= deadline) {
    return { ...PLAYED_NOTHING, end: { kind: 'failed', error: describeError(describeOverdue(deadline)) } }
  }
  const kept: PlayedEnd[] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'wait.changed') kept.push({ kind: 'halted', reason: describeKept(notice) })
    parts.publish?.(notice)
  }
  const played = await playRun({ ...parts, publish }, { claim, workflow, known: steps, answersFor: () => () => null })
  const [end] = kept
  return end && goesOn(played.end) ? { ...played, end } : played
}

function describeKept({ step, target, asked, place }: NoticeOf<'wait.changed'>): string {
  const at = place === null ? '' : ` at ${place}`
  return `${KEEPS_WAIT}step "${step}" still waits for ${target}, and the code asks for ${asked}${at}`
}

/** Whether a play on a journal came to its end, or to that of the run. */
export function goesOn({ kind }: PlayedEnd): boolean {
  return kind === 'open' || kind === 'completed' || kind === 'continued'
}
