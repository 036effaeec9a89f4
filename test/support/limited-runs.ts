import { planRoutes } from '../../src/author/read-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import type { Worker } from '../../src/engine/worker.ts'
import { incoming } from './fixtures.ts'
import type { TestEngine } from './test-engine.ts'

let sent = 0

/** Saves events for a workflow as the receiver does, one after the other, and wakes the workers. */
export async function sendEvents(
  engine: TestEngine,
  workflow: AnyWorkflow,
  data: object[],
  workers: Worker[],
): Promise<string[]> {
  const [route] = planRoutes(workflow)
  const priorities = route?.priority === undefined ? {} : { [workflow.id]: route.priority }
  const runs: string[] = []
  for (const each of data) {
    const id = `evt_${workflow.id}_${sent++}`
    const delivery = incoming(id, { data: each, workflows: [workflow.id], priorities, receivedAt: engine.clock.now() })
    runs.push(...(await engine.store.saveDelivery(delivery)).runs)
  }
  for (const worker of workers) worker.wake()
  return runs
}

/** Steps that stay at work until the test lets them go. */
export function createGates({ notices }: TestEngine) {
  const gates = new Map<string, () => void>()
  const started: string[] = []
  let most = 0
  let isOpen = false
  return {
    started,
    get most() {
      return most
    },
    work: (run: string) => {
      started.push(run)
      // A claim by itself is no notice.
      notices.publish({ kind: 'run.queued', count: 0 })
      most = Math.max(most, gates.size + 1)
      return isOpen ? Promise.resolve() : new Promise<void>((resolve) => gates.set(run, resolve))
    },
    open: (run: string) => {
      gates.get(run)?.()
      gates.delete(run)
    },
    /** Those at work now … */
    openAll: () => {
      for (const [run, open] of gates) {
        gates.delete(run)
        open()
      }
    },
    /** … and those to come: from now on nobody is held up. */
    stayOpen() {
      isOpen = true
      this.openAll()
    },
  }
}
