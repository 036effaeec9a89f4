import type { Failure } from '../../core/errors.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { Asked, FileState } from '../../core/safety/effect.ts'
import type { FolderCount } from '../../core/safety/folders.ts'
import type { Limit } from '../../core/safety/guard.ts'
import type { StubFacts, StubOutcome } from '../pass/step-stub.ts'

/** The effects and the end of a run, found without doing anything. */
export interface Previewed {
  end: PreviewedEnd
  /** Effects, in the order in which they would begin. */
  effects: PreviewedEffect[]
  /** Steps that do nothing outside, in the order in which they began. */
  others: PreviewedStep[]
  /** Log lines of the code. */
  log: { level: 'info' | 'warn' | 'error'; message: string; facts: object }[]
  /** Null where the cause of the run starts this code. */
  unstarted: Unstarted | null
  /** Effects that the guard would hold; empty where it is not asked. */
  held: HeldEffect[]
}

/** Of a preview that did not come to the code. */
export const PREVIEWED_NOTHING: Omit<Previewed, 'end'> = { effects: [], others: [], log: [], unstarted: null, held: [] }

export type PreviewedEnd =
  /** `output`: JSON text. */
  | { kind: 'completed'; output: string }
  /** Another run would go on in its place, with this input as JSON text. */
  | { kind: 'continued'; input: string }
  | { kind: 'failed'; error: Failure }
  | { kind: 'skipped'; reason: string }
  /** It would wait for a person. */
  | { kind: 'halted'; reason: string }
  /** Nothing answers this step, so nobody knows how the run goes on. */
  | { kind: 'open'; step: string; reason: string }

/** The reason of an end, as the code or the engine says it; null for one that needs none. */
export function whyOf(end: PreviewedEnd): string | null {
  if (end.kind === 'failed') return `${end.error.name}: ${end.error.message}`
  return 'reason' in end ? end.reason : null
}

/** The cause of a run, and what starts runs of the code instead. */
export interface Unstarted {
  by: string
  on: string
}

/** An effect that the guard would not let begin by itself. */
export interface HeldEffect {
  step: string
  /** The limit without room, in words, with its setting. */
  reason: string
  /** The rule for it: people are asked, the step waits, or it fails. */
  over: Limit['over']
}

/**
 * Where the outcome of a previewed step comes from. `recorded`: the run's journal; `live`: a real
 * read. `derived`: it follows from the step itself. `declared`: the option `dry` of the step.
 * `borrowed`: another run; `none`: no answer.
 */
type AnswerSource = 'recorded' | 'live' | 'derived' | 'declared' | 'borrowed' | 'none'

/** The answer to a step of a previewed run. */
export interface Answer {
  source: Exclude<AnswerSource, 'none'>
  /** Where it comes from, such as the id of a run; absent where the source says it. */
  from?: string
  /** Null: the step's function is called. */
  outcome: StubOutcome | null
  /** The place of a recorded outcome among those of its run; see `numberOf`. */
  number?: number
  /** State of its file now, for an effect whose run has not read it. */
  seen?: Asked | null
}

/** Answers a step, or gives null where it knows nothing of it. Must not do anything outside. */
export type AnswerStep = (step: Checkpoint, about: StubFacts) => Promise<Answer | null> | Answer | null

export interface PreviewedStep {
  /** Its key; for a step of a run that another one invokes, behind the key of that step. */
  step: string
  kind: 'run' | 'sleep' | 'wait' | 'receive' | 'send' | 'invoke' | 'approve' | 'hook' | 'schedule' | 'patch'
  target: string | null
  source: AnswerSource
  /** Where a borrowed outcome comes from; absent for any other. */
  from?: string
  /** When a sleep ends, or a wait gives up, in epoch milliseconds; null: never. */
  dueAt: number | null
}

/** An effect that a run would have. */
export interface PreviewedEffect extends PreviewedStep {
  class: 'write' | 'delete' | 'send' | 'invoke' | 'approve'
  /** Such as `files.delete`, or the name of the author's step. */
  operation: string
  /** State of the file as the run saw it, or what its author says the write is made of. */
  asked: Asked | null
  /** State of the file that its author requires; null without one. */
  expect: FileState | null
  /** Files that the run has listed in each folder above its file. */
  listed: readonly FolderCount[]
  /** True where a folder may go, with everything in it: that always asks people. */
  isFolderAllowed: boolean
  /** The first step of a list that begins as a whole or not at all; null: it begins alone. */
  list: string | null
  /** JSON text: the data of an event, the input of a run, or the question to people. */
  body: string | null
  /** Outcome of a delete, such as `deleted` or `changed`; null for any other effect. */
  outcome: string | null
  /** Step of the effect whose outcome led the code here; null: none did. */
  after: string | null
  /** Effects that had begun when the code got its outcome; null: it got none. */
  begunBefore: number | null
}
