import type { StepName } from '../../core/runs/step.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { newStep, reachStep } from './reach-step.ts'

/** Parks the run until `wakeAt`, which is called once, when the step is first reached. */
export async function sleepStep(pass: Pass, name: StepName, wakeAt: () => number): Promise<void> {
  const reached = reachStep(pass, name, 'sleep', 'read')
  if (!reached) return neverSettles()
  const { key, known } = reached
  if (known?.status === 'completed') return
  const now = pass.clock.now()
  const step = known ?? { ...newStep(pass, { key, kind: 'sleep', effect: 'read' }), dueAt: wakeAt() }
  const dueAt = step.dueAt ?? now
  if (dueAt <= now) return void pass.journal.record({ ...step, status: 'completed', finishedAt: now })
  if (!known) void pass.journal.record(step)
  return pass.parking.wait(dueAt, `sleeps in step "${key}"`)
}
