import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import type { NoticeOf, Publish } from '../../core/notices.ts'
import { computeDeadline, describeOverdue } from '../pass/deadline.ts'
import type { PreviewParts } from './preview-pass.ts'
import { previewRun } from './preview-run.ts'
import { PREVIEWED_NOTHING, type Previewed, type PreviewedEnd } from './previewed.ts'
import type { RecordedRun } from './replay-recorded.ts'

/** Begins the reason of a run that waits for an event for which the code does not ask any more. */
export const KEEPS_WAIT = 'keeps its wait: '

/**
 * Previews a run on its journal, as the first pass of this code would, up to the journal's end.
 * There, the preview is open. `now`: the moment of that pass, in epoch milliseconds.
 */
export async function previewJournal(
  parts: PreviewParts,
  workflow: AnyWorkflow,
  { claim, steps }: RecordedRun,
  now: number,
): Promise<Previewed> {
  const deadline = computeDeadline(workflow, { startedAt: claim.startedAt })
  if (deadline !== null && now >= deadline) {
    return { ...PREVIEWED_NOTHING, end: { kind: 'failed', error: describeError(describeOverdue(deadline)) } }
  }
  const kept: PreviewedEnd[] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'wait.changed') kept.push({ kind: 'halted', reason: describeKept(notice) })
    parts.publish?.(notice)
  }
  const previewed = await previewRun(
    { ...parts, publish },
    { claim, workflow, known: steps, answersFor: () => () => null },
  )
  const [end] = kept
  return end && goesOn(previewed.end) ? { ...previewed, end } : previewed
}

function describeKept({ step, target, asked, place }: NoticeOf<'wait.changed'>): string {
  const at = place === null ? '' : ` at ${place}`
  return `${KEEPS_WAIT}step "${step}" still waits for ${target}, and the code asks for ${asked}${at}`
}

/** Whether a preview on a journal came to its end, or to that of the run. */
export function goesOn({ kind }: PreviewedEnd): boolean {
  return kind === 'open' || kind === 'completed' || kind === 'continued'
}
