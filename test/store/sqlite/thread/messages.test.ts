import { expect, test } from 'vitest'
import type { IncomingDelivery } from '../../../../src/core/incoming/delivery.ts'
import type { Checkpoint } from '../../../../src/core/runs/step.ts'
import { packCall, unpackCall } from '../../../../src/store/sqlite/thread/messages.ts'

// `Required` makes the compiler ask for each field that the port gains.
const delivery: Required<IncomingDelivery> = {
  id: 'dlv_1',
  endpointId: 'end_1',
  account: 'default',
  receivedAt: 5,
  event: { id: 'evt_1', type: 'file.created', created: '2026-06-01T00:00:00Z' },
  body: '{}',
  facts: { secret: 1 },
  workflows: ['verify'],
  setup: 7,
  priorities: { verify: 3 },
  arrivalClaim: { worker: 'wrk_1', codeHashes: { verify: 'abc' } },
}

const checkpoint: Required<Checkpoint> = {
  key: 'copy',
  position: 2,
  kind: 'run',
  effect: 'write',
  status: 'completed',
  attempt: 1,
  output: '1',
  error: null,
  target: 'fil_1',
  startedAt: 3,
  finishedAt: 4,
  dueAt: 6,
  apartBytes: 8,
  settled: 5,
}

const lease = { runId: 'run_1', fence: 2, worker: 'wrk_1' }

test.each([
  ['saveDelivery', [delivery]],
  ['saveCheckpoint', [lease, checkpoint, undefined, undefined]],
  ['completeRun', [lease, '"done"', 9]],
] as const)('a packed call of %s arrives with every field', (method, args) => {
  const call = { number: 1, method, args: [...args] }
  expect(unpackCall(packCall(call))).toEqual(call)
})
