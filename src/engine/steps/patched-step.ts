import type { Pass } from '../pass/pass.ts'
import { currentStep } from '../pass/scope.ts'
import { newStep, takeStep } from './reach-step.ts'

/** Answers of one pass, by the id of the change. */
export type Patches = Map<string, Promise<boolean>>

/**
 * True, and recorded, where the run comes to this place live. False where its journal goes on past
 * it without the marker. The first answer holds for the whole run.
 */
export function patchedStep(pass: Pass, patches: Patches, id: string): Promise<boolean> {
  const answer = patches.get(id) ?? decide(pass, id)
  patches.set(id, answer)
  return answer
}

function decide(pass: Pass, id: string): Promise<boolean> {
  const name = ['patched', id] as const
  if (currentStep(pass) === null && !pass.journal.knows(`patched[${id}]`) && isPast(pass)) {
    pass.order.noteMove()
    return Promise.resolve(false)
  }
  return takeStep(pass, { name, kind: 'patch', effect: 'read' }, async ({ key }) => {
    const step = { ...newStep(pass, { key, kind: 'patch', effect: 'read' }), output: 'true' }
    const settled = await pass.order.turn(step)
    void pass.journal.record({ ...step, status: 'completed', finishedAt: pass.clock.now(), settled })
    return true
  })
}

/** An earlier pass has come further than this one: outcomes or open steps lie ahead. */
function isPast({ order, journal }: Pass): boolean {
  return order.isReplaying || journal.unreached.some(() => true)
}
