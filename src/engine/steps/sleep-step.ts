import type { StepName } from '../../core/runs/step.ts'
import { neverSettles } from '../pass/parking.ts'
import type { Pass } from '../pass/pass.ts'
import { awaitSaved, holdStep, newStep, takeStep } from './reach-step.ts'
import { stageStep } from './stage-step.ts'

/**
 * Parks the run until `wakeAt`, which is called once, when the step is first reached. Its argument
 * names the step in errors. Where that is past, it waits until all before it is on disk.
 */
export function sleepStep(pass: Pass, name: StepName, wakeAt: (what: string) => number): Promise<void> {
  return takeStep(pass, { name, kind: 'sleep', effect: 'read' }, async ({ key, known }) => {
    const dueAt = known ? (known.dueAt ?? pass.clock.now()) : wakeAt(`Step "${key}"`)
    const held = holdStep(pass)
    if (held && !(await held)) return neverSettles()
    const step = known ?? { ...newStep(pass, { key, kind: 'sleep', effect: 'read' }), dueAt }
    if (pass.stage) return void (await stageStep(pass, pass.stage, step))
    if (dueAt > pass.clock.now()) {
      if (!known) void pass.journal.record(step)
      await pass.parking.wait(step, dueAt, `sleeps in step "${key}"`)
    } else await awaitSaved(pass)
    const settled = await pass.order.turn(step)
    void pass.journal.record({ ...step, status: 'completed', finishedAt: pass.clock.now(), settled })
  })
}
