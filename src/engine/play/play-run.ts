import type { AnyWorkflow } from '../../author/workflow.ts'
import type { Publish } from '../../core/notices.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { ManualClock, systemClock } from '../../core/time.ts'
import type { LiveReads } from '../pass/stage.ts'
import type { AnswerStep } from './first-answer.ts'
import { type PlayParts, playPass } from './play-pass.ts'
import { PlayStage, UNANSWERED } from './play-stage.ts'
import type { Played, PlayedEnd } from './played.ts'

/** Longest time for the function of a read. */
export const MAX_READ_MS = 5 * 60_000
const LIVE: LiveReads = { clock: systemClock, longestMs: MAX_READ_MS, begin: () => () => {} }

/** The play at work, as its answers see it. */
export interface PlayControl {
  /** The time of the play, which answers move, in epoch milliseconds. */
  now: () => number
  /** Aborts at the end of the play. */
  signal: AbortSignal
  /** Adds the findings of a run that the step `key` invokes. */
  adopt: (key: string, child: Played) => void
}

/** A run to play from its first line. */
interface Play {
  claim: ClaimedRun
  workflow: AnyWorkflow
  /** The journal that it goes on from, in the same run. Default: it begins as a new one. */
  known?: readonly Checkpoint[]
  /** Gives the answers to its steps. */
  answersFor: (control: PlayControl) => AnswerStep
}

/**
 * Plays a run from its first line to its end, and gathers what it would do. Nothing is written, and
 * no function of a write or delete is called.
 */
export async function playRun(parts: PlayParts, { claim, workflow, known, answersFor }: Play): Promise<Played> {
  const log: Played['log'] = []
  const publish: Publish = (notice) => {
    if (notice.kind === 'run.log') log.push({ level: notice.level, message: notice.message, facts: notice.facts })
    parts.publish?.(notice)
  }
  const clock = new ManualClock(claim.startedAt)
  const over = new AbortController()
  let stage: PlayStage | null = null
  const outcome = await playPass(
    { ...parts, publish },
    {
      // Its keys are asked for again: one that throws keeps the run from starting.
      claim: known ? claim : { ...claim, codeHash: null, isAdmitted: false },
      workflow,
      known: known ?? [],
      clock,
      openStage: (control) => {
        const answerStep = answersFor({
          now: () => clock.now(),
          signal: over.signal,
          adopt: (key, child) => opened.adopt(key, child),
        })
        const opened = new PlayStage({ ...control, answerStep, live: parts.live ?? LIVE })
        stage = opened
        return opened
      },
    },
  )
  over.abort()
  const played = stage as PlayStage | null
  const end = played?.open && isUnanswered(outcome) ? played.open : describeEnd(outcome, played?.lastRead ?? null)
  return played ? played.conclude(end, log) : { end, effects: [], others: [], log }
}

function isUnanswered(outcome: RunOutcome): boolean {
  return outcome.kind === 'parked' && (outcome.reason === UNANSWERED || outcome.dueAt !== null)
}

/** `lastRead`: the step whose real read failed, where a worker would try it again later. */
function describeEnd(outcome: RunOutcome, lastRead: string | null): PlayedEnd {
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
      throw new Error(`A play cannot end as ${outcome.kind}.`)
    default:
      return outcome satisfies never
  }
}

/** A play packs nothing: its store keeps the text. */
function unpack({ data }: { data: Uint8Array }): string {
  return Buffer.from(data).toString()
}
