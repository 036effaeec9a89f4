import { planRoutes } from '../../src/author/read-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import type { Worker } from '../../src/engine/worker.ts'
import { incoming } from './fixtures.ts'
import type { TestEngine } from './test-engine.ts'

let sent = 0

/** Saves events for a workflow one by one, as the receiver does, and wakes the workers. */
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
