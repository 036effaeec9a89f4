import type { Checkpoint } from '../../core/runs/step.ts'
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

/** The answer is no outcome of the recorded order: a run may go on once its marker is taken out. */
function decide(pass: Pass, id: string): Promise<boolean> {
  const name = ['patched', id] as const
  const request = { name, kind: 'patch', effect: 'read' } as const
  if (currentStep(pass) === null && !pass.journal.knows(`patched[${id}]`) && isPast(pass)) {
    pass.order.noteMove()
    return Promise.resolve(false)
  }
  return takeStep(pass, { ...request, keep: false }, ({ key, known }) => {
    if (!known) void pass.journal.record(answerOf(pass, key))
    return Promise.resolve(true)
  })
}

function answerOf(pass: Pass, key: string): Checkpoint {
  const step = newStep(pass, { key, kind: 'patch', effect: 'read' })
  return { ...step, status: 'completed', output: 'true', finishedAt: pass.clock.now(), settled: 0 }
}

/** An earlier pass has come further than this one: outcomes or open steps lie ahead. */
function isPast({ order, journal }: Pass): boolean {
  return order.isReplaying || journal.hasUnreached
}
