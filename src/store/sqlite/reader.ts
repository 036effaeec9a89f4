import type { ReadStore } from '../../core/store.ts'
import type { Tables } from './tables.ts'

/** The reading half of the store. Sees what is committed; a group commit never spans a turn of the event loop. */
export function createReader({ endpoints, deliveries, captures, events, runs, steps }: Tables): ReadStore {
  return {
    findEndpoint: async (path) => endpoints.find(path),
    listEndpoints: async () => endpoints.list(),
    listDeliveries: async ({ limit }) => deliveries.list(limit),
    tallyRefusals: async () => deliveries.tallyRefusals(),
    listCaptures: async (endpointId) => captures.list(endpointId),
    listEvents: async (query) => events.list(query),
    findEvents: async (id) => events.findAll(id),
    listRuns: async (query) => runs.list(query),
    findRun: async (id) => runs.find(id),
    listSteps: async (runId) => steps.list(runId),
    listStepFailures: async (runId) => steps.listFailures(runId),
    nextDueAt: async () => runs.nextDueAt(),
  }
}
