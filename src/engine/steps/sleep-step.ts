import type { StepName } from '../../core/runs/step.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { newStep, reachStep } from './reach-step.ts'

/**
 * Parks the run until `wakeAt`, which is called once, when the step is first reached. Its argument
 * names the step in errors.
 */
export async function sleepStep(pass: Pass, name: StepName, wakeAt: (what: string) => number): Promise<void> {
  const reached = reachStep(pass, name, 'sleep', 'read')
  if (!reached) return neverSettles()
  const { key, known } = reached
  if (known?.status === 'completed') return
  const now = pass.clock.now()
  const dueAt = known ? (known.dueAt ?? now) : wakeAt(`Step "${key}"`)
  const step = known ?? { ...newStep(pass, { key, kind: 'sleep', effect: 'read' }), dueAt }
  if (dueAt <= now) return void pass.journal.record({ ...step, status: 'completed', finishedAt: now })
  if (!known) void pass.journal.record(step)
  return pass.parking.wait(dueAt, `sleeps in step "${key}"`)
}
