import { isA } from '../../core/errors.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { SavedWithStep } from '../../core/runs/wait.ts'
import type { Asked, FileState } from '../../core/safety/effect.ts'
import type { FolderCount } from '../../core/safety/folders.ts'
import type { Clock } from '../../core/time.ts'

/** The functions of reads that a preview calls, in real time. Its own clock stands still. */
export interface LiveReads {
  clock: Clock
  /** Longest time for a function. */
  longestMs: number
  /** A function is at work until the result is called. */
  begin(): () => void
}

/** Thrown where a function is still at work after the longest time of a preview. */
export class LateRead extends Error {}

export function isLate(error: unknown): boolean {
  return isA(error, LateRead)
}

/** Stands in for the world where a run is previewed instead of executed. */
export interface StepStub {
  /**
   * Gives the outcome of a step that begins, after its arguments were checked. Null: its function
   * is called, only for a `run` step. Never settles where the preview ends.
   */
  answer(step: Checkpoint, about: StubFacts): Promise<StubOutcome | null>
  /** Absent where no function is called. */
  live?: LiveReads
  /** Ends the preview at this step, whose function is late. */
  endLate?(step: Checkpoint): Promise<never>
}

/** The request of a step, beyond its row. */
export interface StubFacts
  extends Pick<SavedWithStep, 'wait' | 'send' | 'invoke' | 'approve' | 'schedule' | 'unschedule'> {
  /** For a `run` step. */
  effect?: StubbedEffect
}

/** The effect that a `run` step would have. */
export interface StubbedEffect {
  /** State of its file as the run knows it, or what its author says the write is made of. */
  asked: Asked | null
  /** State of its file that its author requires; null without one. */
  expect: FileState | null
  /** Files that the run has listed in each folder above its file. */
  listed: readonly FolderCount[]
  /** Reads the present state of its file; null: there is none. Absent without a file. */
  look?: (signal: AbortSignal) => Promise<Asked | null>
  isFolderAllowed: boolean
  /** Equal for effects that begin together or not at all. */
  list?: object
  /** True for a step that may begin once only. */
  isOnce: boolean
  /** False for a result that no journal keeps. */
  isKept: boolean
  /** Its author's result of doing nothing. Absent without one. */
  dry?: () => unknown
}

/** The end of a step, as its row says it. */
export type StubOutcome = Pick<Checkpoint, 'output' | 'error' | 'finishedAt'> & {
  status: 'completed' | 'failed'
  /** Default: the attempt that begins. */
  attempt?: number
  /** The value of a step whose result is not kept. */
  value?: unknown
}
