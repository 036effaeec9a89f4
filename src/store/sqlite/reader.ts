import type { AlertReads } from '../../core/store/health/alerts.ts'
import type { HourReads } from '../../core/store/health/hours.ts'
import type { ProcessReads } from '../../core/store/health/processes.ts'
import type { ShadowReads } from '../../core/store/health/shadows.ts'
import type { ShapeReads } from '../../core/store/health/shapes.ts'
import type { SweepReads } from '../../core/store/health/sweeps.ts'
import type { OperationReads } from '../../core/store/operations.ts'
import type { RetentionReads } from '../../core/store/retention.ts'
import type { RunReads } from '../../core/store/runs.ts'
import type { AccessReads } from '../../core/store/safety/access.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { packOutput } from '../rows/runs/packed-output.ts'
import { readRecordings } from '../tables/runs/read-recordings.ts'
import { ChangeWatch } from './database/change-watch.ts'
import { safetyReads } from './safety/safety-reads.ts'
import type { Tables } from './tables.ts'

/** The read half of the store. It sees committed rows only: no group commit spans two turns. */
export function createReader({
  accounts,
  endpoints,
  endpointCache,
  ledger,
  deliveries,
  refusals,
  captures,
  events,
  eventSearch,
  runs,
  claims,
  claimReader,
  runSearch,
  runLogs,
  steps,
  workflows,
  ticks,
  changes,
  outputs,
  waits,
  cursors,
  limits,
  effects,
  ...rest
}: Tables): ReadStore {
  return {
    ...safetyReads(rest),
    ...adminReads(rest),
    // Never newer than the endpoints and routes that the same turn gives.
    readClock: async () => null,
    readServerState: async () => null,
    readServerRoom: async () => null,
    readSetupVersion: async () => (await endpointCache.knownVersion()) + (await workflows.version()),
    findEndpoint: async (path) => (await endpointCache.get()).get(path) ?? null,
    listEndpoints: async () => [...(await endpointCache.get()).values()],
    listEndpointNames: async () => endpoints.names(),
    listSecretUses: async (endpointId) => endpoints.uses(endpointId),
    findAccount: async (name) => accounts.find(name),
    listAccounts: async () => accounts.list(),
    listDeliveries: async (query) => ledger.list(query),
    listDeliveryIds: async (beginning, limit) => ledger.ids(beginning, limit),
    listDeliveriesOf: async (event, limit) => ledger.listOfEvent(event, limit),
    countDeliveries: async (endpointId, since) => ledger.count(endpointId, since),
    findDelivery: async (id) => ledger.find(id),
    tallyRefusals: async () => refusals.tally(),
    tallyUnmatched: async () => deliveries.unmatched.list(),
    listCaptures: async (endpointId) => captures.list(endpointId),
    listEvents: async (query) => events.list(query),
    readSubjects: async (limit) => eventSearch.subjects.readNext(limit),
    searchEvents: async (search, slice) => eventSearch.search(search, slice),
    walkEvents: async (search, slice) => eventSearch.walk(search, slice),
    findEvents: async (id) => events.findAll(id),
    listEventsOfRuns: async (runIds) => events.listOfRuns(runIds),
    listRuns: async (query) => runSearch.list(query),
    searchRuns: async (filter, slice) => runSearch.search(filter, slice),
    groupFailures: async (filter, slice) => runSearch.groupFailures(filter, slice),
    listEndedFailures: async (query) => runSearch.endedFailures(query),
    findRun: async (id) => runs.find(id),
    readRecordings: async (runIds) => readRecordings({ runs, claimReader, steps }, runIds),
    listRunIds: async (beginning, limit) => runSearch.ids(beginning, limit),
    listRunEvents: async (runId) => runs.listEvents(runId),
    listRunLog: async (runId) => runLogs.list(runId),
    listSteps: async (runId, inlineBytes) => steps.list(runId, inlineBytes),
    readOutput: async (runId, key) => outputs.read(runId, key),
    packOutput,
    findInvoked: async (runId, key) => waits.findInvoked(runId, key),
    listEndedWaits: async (runId) => waits.listEnded(runId),
    findMatch: async (runId, key) => waits.findMatch(runId, key),
    listMatchCursors: async () => ({ cursors: await cursors.list(), newest: await events.newest() }),
    listEventsAfter: async (query) => events.listAfter(query),
    listStepFailures: async (runId) => steps.listFailures(runId),
    listDeletes: async (account, targets) => [
      ...(await steps.listDeletes(account, targets)),
      ...(await effects.listDeletes(account, targets)),
    ],
    hasSuspects: async () => claims.hasSuspects(),
    findClaimable: async (worker, now) => claims.find(worker, now),
    nextDueAt: async () => runs.nextDueAt(),
    countOpenRuns: async (now) => runs.countOpen(now),
    listLeases: async (worker) => runs.leases(worker),
    listRoutes: async () => workflows.routes(),
    listWorkflows: async () => workflows.list(),
    listSchedules: async () => ticks.list(),
    watch: (clock, onChange) => new ChangeWatch({ count: changes, clock, onChange }),
    loadLimit: async (key) => limits.load(key),
  }
}

/** Reads of the admin API: logins, operations on many runs, hours and processes. */
function adminReads({
  access,
  alerts,
  bulks,
  failureStates,
  hours,
  processes,
  pruneCounts,
  shadows,
  shapes,
  sweeps,
}: Pick<
  Tables,
  | 'access'
  | 'alerts'
  | 'bulks'
  | 'failureStates'
  | 'hours'
  | 'processes'
  | 'pruneCounts'
  | 'shadows'
  | 'shapes'
  | 'sweeps'
>): AccessReads &
  AlertReads &
  ShadowReads &
  ShapeReads &
  SweepReads &
  HourReads &
  OperationReads &
  ProcessReads &
  RetentionReads &
  Pick<RunReads, 'listFailureStates' | 'listSettledFailures'> {
  return {
    findSession: async (cookieHash) => access.findSession(cookieHash),
    findLoginCode: async (codeHash, now) => access.findCode(codeHash, now),
    listSessions: async (now) => access.listSessions(now),
    findToken: async (tokenHash) => access.findToken(tokenHash),
    listTokens: async () => access.listTokens(),
    loadAlertBook: async (rule) => alerts.load(rule),
    listShadows: async (workflow) => shadows.list(workflow),
    loadShapeBook: async () => shapes.load(),
    ...sweepReads(sweeps),
    findDueHour: async (now) => hours.findDue(now),
    readHourRuns: async (hour, after) => hours.readRuns(hour, after),
    countHourRuns: async (hour, slice) => hours.countOf(hour, slice),
    readHourDeliveries: async (hour) => hours.readDeliveries(hour),
    listRunHours: async (query) => hours.listRuns(query),
    listDeliveryHours: async (since) => hours.listDeliveries(since),
    countRuns: async (since) => hours.count(since),
    listProcesses: async () => processes.list(),
    findBulk: async (id) => bulks.find(id),
    countPrunable: async (question) => pruneCounts.count(question),
    listBulks: async (query) => bulks.list(query),
    listBulkRefusals: async (id) => bulks.listRefusals(id),
    listFailureStates: async (groups) => failureStates.list(groups),
    listSettledFailures: async (kinds) => failureStates.settled(kinds),
  }
}

function sweepReads(sweeps: Tables['sweeps']): SweepReads {
  return {
    loadSweep: async (account, storage) => sweeps.load(account, storage),
    listSweeps: async () => sweeps.list(),
    listSuspects: async (query) => sweeps.suspects(query),
    countFiles: async (query) => sweeps.count(query),
    listToldFiles: async (query) => sweeps.told(query),
    hasOwnDelete: async (account, targets) => sweeps.hasOwnDelete(account, targets),
    loadFileBook: async () => sweeps.loadBook(),
    findFinding: async (key) => sweeps.finding(key),
    listFindings: async (query) => sweeps.findings(query),
  }
}
