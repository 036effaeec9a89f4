import type { StepName } from '../../core/runs/step.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { newStep, reachStep } from './reach-step.ts'

/** Waits until the moment that `wakeAt` gave when the run first came here. */
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
