import type { Lease } from '../../../src/core/runs/lease.ts'
import { asOperator } from '../../../src/core/store/as-operator.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { NOW } from '../../support/fixtures.ts'
import { OPERATOR } from './list-scenario.ts'

/** Holds many other runs. */
export const STOP = { kind: 'workflow', name: 'stopped' } as const

/** Cancels a run with a long held list, and lets it begin again; then a stop ends. */
export async function endAll(store: Store, held: Lease): Promise<void> {
  const people = asOperator(store, OPERATOR, { now: () => NOW })
  await people.cancelRun(held.runId, 'enough', NOW)
  await people.retryRun(held.runId, NOW)
  await people.resumeEffects(STOP, { actor: 'ada', reason: null, now: NOW })
}
