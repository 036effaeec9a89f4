import type { ReadStore } from '../../core/store/store.ts'
import { ChangeWatch } from './database/change-watch.ts'
import { packOutput } from './runs/output-table.ts'
import type { Tables } from './tables.ts'

/** The read half of the store. It sees committed rows only: no group commit spans two turns. */
export function createReader({
  accounts,
  endpoints,
  ledger,
  deliveries,
  captures,
  events,
  runs,
  steps,
  workflows,
  ticks,
  changes,
  outputs,
  waits,
  cursors,
  limits,
  audits,
}: Tables): ReadStore {
  return {
    // Never newer than the endpoints and routes that the same turn gives.
    readSetupVersion: async () => endpoints.knownVersion() + workflows.knownVersion(),
    findEndpoint: async (path) => endpoints.find(path),
    listEndpoints: async () => endpoints.list(),
    listEndpointNames: async () => endpoints.names(),
    listSecretUses: async (endpointId) => endpoints.uses(endpointId),
    findAccount: async (name) => accounts.find(name),
    listAccounts: async () => accounts.list(),
    listDeliveries: async (query) => ledger.list(query),
    listDeliveriesOf: async (event, limit) => ledger.listOfEvent(event, limit),
    countDeliveries: async (endpointId, since) => ledger.count(endpointId, since),
    findDelivery: async (id) => ledger.find(id),
    tallyRefusals: async () => deliveries.tallyRefusals(),
    tallyUnmatched: async () => deliveries.unmatched.list(),
    listCaptures: async (endpointId) => captures.list(endpointId),
    listEvents: async (query) => events.list(query),
    findEvents: async (id) => events.findAll(id),
    listRuns: async (query) => runs.list(query),
    findRun: async (id) => runs.find(id),
    listRunEvents: async (runId) => runs.listEvents(runId),
    listSteps: async (runId, inlineBytes) => steps.list(runId, inlineBytes),
    readOutput: async (runId, key) => outputs.read(runId, key),
    packOutput,
    findMatch: async (runId, key) => waits.findMatch(runId, key),
    listMatchCursors: async () => cursors.list(),
    listEventsAfter: async (query) => events.listAfter(query),
    listStepFailures: async (runId) => steps.listFailures(runId),
    listDeletes: async (account, targets) => steps.listDeletes(account, targets),
    nextDueAt: async () => runs.nextDueAt(),
    listLeases: async (worker) => runs.leases(worker),
    listRoutes: async () => workflows.routes(),
    listWorkflows: async () => workflows.list(),
    listSchedules: async () => ticks.list(),
    watch: (clock, onChange) => new ChangeWatch({ count: changes, clock, onChange }),
    loadLimit: async (key) => limits.load(key),
    listActions: async (query) => audits.list(query),
  }
}
