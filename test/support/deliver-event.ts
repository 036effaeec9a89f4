import type { Worker } from '../../src/engine/worker.ts'
import { eventBody, incoming } from './fixtures.ts'
import type { TestEngine } from './test-engine.ts'

/** Saves an event as the receiver does and wakes the workers; by default it starts no run. */
export async function deliverEvent(
  engine: Pick<TestEngine, 'store' | 'clock'>,
  workers: Worker | readonly Worker[],
  event: { id: string; type: string; data: object; account?: string; workflows?: string[] },
): Promise<string[]> {
  const { id, type, data, account = 'default', workflows = [] } = event
  const receivedAt = engine.clock.now()
  const body = eventBody(id, type, data)
  const { runs } = await engine.store.saveDelivery(incoming(id, { body, account, workflows, receivedAt }))
  for (const worker of [workers].flat()) {
    worker.matchEvents()
    if (runs.length > 0) worker.wake()
  }
  return runs
}
