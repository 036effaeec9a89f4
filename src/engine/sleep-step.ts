import type { StepName } from '../core/step.ts'
import { never } from './parking.ts'
import type { Pass } from './pass.ts'

/** Waits until the moment that `wakeAt` gave when the run first came here. */
export async function sleepStep(pass: Pass, name: StepName, wakeAt: () => number): Promise<void> {
  if (pass.parking.isClosed) return never()
  const { key, known } = pass.journal.reach(name)
  if (known?.status === 'completed') return
  const now = pass.clock.now()
  const step = known ?? {
    key,
    position: pass.journal.takePosition(),
    effect: 'read',
    status: 'waiting',
    attempt: 1,
    output: null,
    error: null,
    target: null,
    startedAt: now,
    finishedAt: null,
    dueAt: wakeAt(),
  }
  const dueAt = step.dueAt ?? now
  if (dueAt <= now) return pass.journal.record({ ...step, status: 'completed', finishedAt: now })
  if (!known) pass.journal.record(step)
  return pass.parking.wait(dueAt, `sleeps in step "${key}"`)
}
