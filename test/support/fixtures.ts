import { newId } from '../../src/core/ids.ts'
import type { IncomingDelivery } from '../../src/core/incoming/delivery.ts'
import type { Checkpoint } from '../../src/core/runs/step.ts'
import type { Store } from '../../src/core/store/store.ts'

export const NOW = Date.UTC(2026, 5, 1, 12)

/** Body of an event as the service would send it. */
export function eventBody(id: string, type = 'file.created', data: object = { file: { id: 'fil_1' } }): string {
  return JSON.stringify({ id, type, created: '2026-06-01T11:59:58.000Z', data })
}

/** A verified delivery of an event with this id. */
export function incoming(eventId: string, part: Partial<IncomingDelivery> & { data?: object } = {}): IncomingDelivery {
  const { data, ...rest } = part
  const body = part.body ?? eventBody(eventId, 'file.created', data)
  return {
    id: newId('dlv', NOW),
    endpointId: 'end_test',
    account: 'default',
    receivedAt: NOW,
    event: JSON.parse(body),
    body,
    facts: {},
    workflows: ['follow-up'],
    ...rest,
  }
}

/** Saves an event with one run of `workflow`; returns the id of the run. */
export async function queueRun(
  store: Store,
  eventId = 'evt_1',
  workflow = 'follow-up',
  receivedAt = NOW,
): Promise<string> {
  const { runs } = await store.saveDelivery(incoming(eventId, { workflows: [workflow], receivedAt }))
  return runs[0] ?? ''
}

/** A finished step. */
export function checkpoint(key: string, part: Partial<Checkpoint> = {}): Checkpoint {
  return {
    key,
    position: 0,
    kind: 'run',
    effect: 'write',
    status: 'completed',
    attempt: 1,
    output: '"done"',
    error: null,
    target: null,
    startedAt: NOW,
    finishedAt: NOW,
    dueAt: null,
    ...part,
  }
}
