import { describe } from 'vitest'
import type { OpenStore } from './open-store.ts'
import { describeAccounts } from './store-accounts.ts'
import { describeDeliveries } from './store-deliveries.ts'
import { describeEndpoints } from './store-endpoints.ts'
import { describeFlow } from './store-flow.ts'
import { describeFlowOperations } from './store-flow-operations.ts'
import { describeJournal } from './store-journal.ts'
import { describeLimits } from './store-limits.ts'
import { describeOperations } from './store-operations.ts'
import { describeCaptures, describeRefusals } from './store-refusals.ts'
import { describeRetention } from './store-retention.ts'
import { describeRuns } from './store-runs.ts'
import { describeTicks } from './store-ticks.ts'
import { describeWaits } from './store-waits.ts'
import { describeWorkers } from './store-workers.ts'
import { describeWorkflows } from './store-workflows.ts'

/**
 * What every store must hold to. A file for each store calls it, so that they are tested side by
 * side.
 */
export function describeStore(open: OpenStore): void {
  describe('deliveries', () => describeDeliveries(open))
  describe('refusals', () => describeRefusals(open))
  describe('captures', () => describeCaptures(open))
  describe('endpoints', () => describeEndpoints(open))
  describe('accounts', () => describeAccounts(open))
  describe('runs', () => describeRuns(open))
  describe('journal', () => describeJournal(open))
  describe('flow', () => describeFlow(open))
  describe('flow and operations', () => describeFlowOperations(open))
  describe('ticks', () => describeTicks(open))
  describe('waits', () => describeWaits(open))
  describe('limits', () => describeLimits(open))
  describe('workers', () => describeWorkers(open))
  describe('operations', () => describeOperations(open))
  describe('workflows', () => describeWorkflows(open))
  describe('retention', () => describeRetention(open))
}
