import type { Checkpoint } from '../../core/runs/step.ts'
import type { Asked } from '../../core/safety/effect.ts'
import type { StubFacts, StubOutcome } from '../pass/step-stub.ts'
import type { AnswerSource } from './previewed.ts'

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

/** Asks several in turn; the first that knows the step answers it. */
export function firstAnswer(answers: readonly AnswerStep[]): AnswerStep {
  return async (step, about) => {
    for (const answer of answers) {
      const given = await answer(step, about)
      if (given !== null) return given
    }
    return null
  }
}
