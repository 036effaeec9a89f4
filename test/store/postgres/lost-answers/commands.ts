import fc from 'fast-check'
import type { Fault } from './faulty-network.ts'

const moment = {
  skip: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 14 }), fc.constant('commit' as const)),
  share: fc.constantFrom(0, 0, 0.5, 0.99, 1),
}
const side = fc.constantFrom('request' as const, 'answer' as const)
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 25, arbitrary: fc.record({ ...moment, side, how: fc.constant('cut' as const) }) },
  { weight: 1, arbitrary: fc.record({ ...moment, side, how: fc.constant('swallow' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ ...moment, side: fc.constant('request' as const), how: fc.constant('late' as const) }),
  },
)

const OPERATIONS = {
  deliver: 5,
  deliverAgain: 1,
  claim: 5,
  claimSuspects: 1,
  step: 3,
  once: 4,
  write: 3,
  send: 2,
  failedStep: 2,
  waits: 2,
  match: 2,
  invoke: 2,
  admit: 2,
  complete: 4,
  fail: 2,
  skip: 1,
  park: 2,
  postpone: 1,
  release: 1,
  continue: 1,
  cancel: 2,
  retry: 2,
  resume: 1,
  start: 1,
  operate: 1,
  limit: 1,
  tick: 1,
  pause: 1,
  log: 1,
} as const

export type Operation = keyof typeof OPERATIONS

/** A call of the store, and the faults that may happen meanwhile. */
export interface Command {
  operation: Operation
  pick: number
  faults: Fault[]
}

export const command: fc.Arbitrary<Command> = fc.record({
  operation: fc.oneof(
    ...Object.entries(OPERATIONS).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Operation) })),
  ),
  pick: fc.nat({ max: 11 }),
  faults: fc.array(fault, { maxLength: 2 }),
})
