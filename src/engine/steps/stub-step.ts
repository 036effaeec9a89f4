import type { Checkpoint } from '../../core/runs/step.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import type { StepStub, StubFacts, StubOutcome } from '../pass/step-stub.ts'
import { describeFailure, holdStep } from './reach-step.ts'

/** Lets a stub answer a step that begins: its code gets the outcome as that of a real one. */
export async function stubStep(pass: Pass, stub: StepStub, step: Checkpoint, about: StubFacts = {}): Promise<unknown> {
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const outcome = await stub.answer(step, about)
  if (outcome === null) throw new Error(`The stub did not answer step "${step.key}".`)
  return giveOutcome(pass, step, outcome)
}

/** Records the outcome in its turn, and gives it to the code: a value, or a `StepError`. */
export async function giveOutcome(pass: Pass, step: Checkpoint, outcome: StubOutcome): Promise<unknown> {
  const { value, ...end } = outcome
  const settled = await pass.order.turn(step)
  const row: Checkpoint = { ...step, ...end, settled }
  void pass.journal.record(row)
  if (row.status === 'failed') throw describeFailure(row)
  if (value !== undefined) return value
  return row.output === null ? undefined : JSON.parse(row.output)
}
