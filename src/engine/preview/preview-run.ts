import type { AnyWorkflow } from '../../author/workflow.ts'
import type { Publish } from '../../core/notices.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { ManualClock, systemClock } from '../../core/time.ts'
import type { LiveReads } from '../pass/step-stub.ts'
import type { AnswerStep } from './first-answer.ts'
import { type PreviewParts, previewPass } from './preview-pass.ts'
import { PreviewStub, UNANSWERED } from './preview-stub.ts'
import type { Previewed, PreviewedEnd } from './previewed.ts'

/** Longest time for the function of a read. */
export const MAX_READ_MS = 5 * 60_000
const LIVE: LiveReads = { clock: systemClock, longestMs: MAX_READ_MS, begin: () => () => {} }

/** The preview at work, as its answers see it. */
export interface PreviewControl {
  /** The time of the preview, which answers move, in epoch milliseconds. */
  now: () => number
  /** Aborts at the end of the preview. */
  signal: AbortSignal
  /** Adds the findings of a run that the step `key` invokes. */
  adopt: (key: string, child: Previewed) => void
}

/** A run to preview from its first line. */
interface Preview {
  claim: ClaimedRun
  workflow: AnyWorkflow
  /** The journal that it goes on from, in the same run. Default: it begins as a new one. */
  known?: readonly Checkpoint[]
  answersFor: (control: PreviewControl) => AnswerStep
}

/**
 * Previews a run from its first line to its end, and gathers what it would do. Nothing is written,
 * and no function of a write or delete is called.
 */
export async function previewRun(
  parts: PreviewParts,
  { claim, workflow, known, answersFor }: Preview,
): Promise<Previewed> {
  const log: Previewed['log'] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'run.log') log.push({ level: notice.level, message: notice.message, facts: notice.facts })
    parts.publish?.(notice)
  }
  const clock = new ManualClock(claim.startedAt)
  const over = new AbortController()
  let stub: PreviewStub | null = null
  const outcome = await previewPass(
    { ...parts, publish },
    {
      // Its keys are asked for again: one that throws keeps the run from starting.
      claim: known ? claim : { ...claim, codeHash: null, isAdmitted: false },
      workflow,
      known: known ?? [],
      clock,
      openStub: (control) => {
        const answerStep = answersFor({
          now: () => clock.now(),
          signal: over.signal,
          adopt: (key, child) => opened.adopt(key, child),
        })
        const opened = new PreviewStub({ ...control, answerStep, live: parts.live ?? LIVE })
        stub = opened
        return opened
      },
    },
  )
  over.abort()
  const previewed = stub as PreviewStub | null
  const end =
    previewed?.open && isUnanswered(outcome) ? previewed.open : describeEnd(outcome, previewed?.lastRead ?? null)
  return previewed ? previewed.conclude(end, log) : { end, effects: [], others: [], log }
}

function isUnanswered(outcome: RunOutcome): boolean {
  return outcome.kind === 'parked' && (outcome.reason === UNANSWERED || outcome.dueAt !== null)
}

/** `lastRead`: the step whose real read failed, where a worker would try it again later. */
function describeEnd(outcome: RunOutcome, lastRead: string | null): PreviewedEnd {
  switch (outcome.kind) {
    case 'completed':
      return { kind: 'completed', output: typeof outcome.output === 'string' ? outcome.output : unpack(outcome.output) }
    case 'continued':
      return { kind: 'continued', input: outcome.successor.input }
    case 'failed':
    case 'retry':
      return { kind: 'failed', error: outcome.error }
    case 'skipped':
      return { kind: 'skipped', reason: outcome.reason }
    case 'expired':
      return { kind: 'failed', error: { name: 'Error', message: outcome.reason } }
    case 'parked':
      if (outcome.dueAt === null && !outcome.awaits?.length) return { kind: 'halted', reason: outcome.reason }
      return { kind: 'open', step: lastRead ?? '', reason: outcome.reason }
    case 'canceled':
    case 'lost':
    case 'released':
    case 'queued':
    case 'ready':
    case 'planned':
      throw new Error(`A preview cannot end as ${outcome.kind}.`)
    default:
      return outcome satisfies never
  }
}

/** A preview packs nothing: its store keeps the text. */
function unpack({ data }: { data: Uint8Array }): string {
  return Buffer.from(data).toString()
}
