import type { Checkpoint } from '../../core/runs/step.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import type { Stage, StageFacts, StageOutcome } from '../pass/stage.ts'
import { describeFailure, holdStep } from './reach-step.ts'

/** Lets a stage answer a step that begins: its code gets the outcome as that of a real one. */
export async function stageStep(pass: Pass, stage: Stage, step: Checkpoint, about: StageFacts = {}): Promise<unknown> {
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const outcome = await stage.answer(step, about)
  if (outcome === null) throw new Error(`The stage did not answer step "${step.key}".`)
  return giveOutcome(pass, step, outcome)
}

/** Records the outcome in its turn, and gives it to the code: a value, or a `StepError`. */
export async function giveOutcome(pass: Pass, step: Checkpoint, outcome: StageOutcome): Promise<unknown> {
  const { value, ...end } = outcome
  const settled = await pass.order.turn(step)
  const row: Checkpoint = { ...step, ...end, settled }
  void pass.journal.record(row)
  if (row.status === 'failed') throw describeFailure(row)
  if (value !== undefined) return value
  return row.output === null ? undefined : JSON.parse(row.output)
}
