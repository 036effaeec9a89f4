import type { ReadStore } from '../core/store/store.ts'
import type { SetupCache } from './tables/incoming/setup-cache.ts'
import type { openSharedTables } from './tables/open-shared-tables.ts'
import { readRecordings } from './tables/runs/claim-reader.ts'
import { packOutput } from './tables/runs/output-table.ts'
import type { PruneCounts } from './tables/upkeep/prune-counts.ts'

/** The parts of tables of each driver that reads ask. */
interface OwnTables {
  eventSearch: { search: ReadStore['searchEvents']; walk: ReadStore['walkEvents'] }
  claims: { find: ReadStore['findClaimable'] }
  pruneCounts: PruneCounts
}

type Tables = ReturnType<typeof openSharedTables> & OwnTables

/** Reads that come from memory, and those that each database answers in its own way. */
type Composed =
  | keyof SetupReads
  | 'packOutput'
  | 'readClock'
  | 'readServerRoom'
  | 'readServerState'
  | 'readSubjects'
  | 'watch'

export type Reads = {
  [Name in Exclude<keyof ReadStore, Composed>]: (
    tables: Tables,
    ...args: Parameters<ReadStore[Name]>
  ) => ReturnType<ReadStore[Name]>
}

/** Every read of the tables, by its name. */
export const READS: Reads = {
  listEndpointNames: (t) => t.endpoints.names(),
  listSecretUses: (t, endpointId) => t.endpoints.uses(endpointId),
  findAccount: (t, name) => t.accounts.find(name),
  listAccounts: (t) => t.accounts.list(),
  listDeliveries: (t, query) => t.ledger.list(query),
  listDeliveryIds: (t, beginning, limit) => t.ledger.ids(beginning, limit),
  listDeliveriesOf: (t, event, limit) => t.ledger.listOfEvent(event, limit),
  countDeliveries: (t, endpointId, since) => t.ledger.count(endpointId, since),
  findDelivery: (t, id) => t.ledger.find(id),
  tallyRefusals: (t) => t.refusals.tally(),
  tallyUnmatched: (t) => t.unmatched.list(),
  listCaptures: (t, endpointId) => t.captures.list(endpointId),
  listEvents: (t, query) => t.events.list(query),
  searchEvents: (t, search, slice) => t.eventSearch.search(search, slice),
  walkEvents: (t, search, slice) => t.eventSearch.walk(search, slice),
  findEvents: (t, id) => t.events.findAll(id),
  listEventsOf: (t, owner, ids) => t.events.listOf(owner, ids),
  listRuns: (t, query) => t.runSearch.list(query),
  searchRuns: (t, filter, slice) => t.runSearch.search(filter, slice),
  groupFailures: (t, filter, slice) => t.runSearch.groupFailures(filter, slice),
  listFailureStates: (t, groups) => t.failureStates.list(groups),
  listSettledFailures: (t, kinds) => t.failureStates.settled(kinds),
  findRun: (t, id) => t.runs.find(id),
  readRecordings: (t, runIds) => readRecordings(t, runIds),
  listRunIds: (t, beginning, limit) => t.runSearch.ids(beginning, limit),
  listRunEvents: (t, runId) => t.runs.listEvents(runId),
  listRunLog: (t, runId) => t.runLogs.list(runId),
  listSteps: (t, runId, inlineBytes) => t.steps.list(runId, inlineBytes),
  readOutput: (t, runId, key) => t.outputs.read(runId, key),
  findInvoked: (t, runId, key) => t.waits.findInvoked(runId, key),
  listEndedWaits: (t, runId) => t.waits.listEnded(runId),
  findMatch: (t, runId, key) => t.waits.findMatch(runId, key),
  findHook: (t, id) => t.hooks.find(id),
  listHooks: (t, runId) => t.hooks.list(runId),
  listMatchCursors: async (t) => ({ cursors: await t.cursors.list(), newest: await t.events.newest() }),
  listEventsAfter: (t, query) => t.events.listAfter(query),
  listStepFailures: (t, runId) => t.steps.listFailures(runId),
  listDeletes: async (t, account, targets) => [
    ...(await t.steps.listDeletes(account, targets)),
    ...(await t.effects.listDeletes(account, targets)),
  ],
  listEndedFailures: (t, query) => t.runSearch.endedFailures(query),
  loadAlertBook: (t, rule) => t.alerts.load(rule),
  loadShapeBook: (t) => t.shapes.load(),
  loadSweep: (t, account, storage) => t.sweeps.load(account, storage),
  listSweeps: (t) => t.sweeps.list(),
  listSuspects: (t, query) => t.sweeps.suspects(query),
  countFiles: (t, query) => t.sweeps.count(query),
  listToldFiles: (t, query) => t.sweeps.told(query),
  hasOwnDelete: (t, account, targets) => t.sweeps.hasOwnDelete(account, targets),
  loadFileBook: (t) => t.sweeps.loadBook(),
  findFinding: (t, key) => t.sweeps.finding(key),
  listFindings: (t, query) => t.sweeps.findings(query),
  listSeals: (t, { after = 0, limit }) => t.seals.list(after, limit),
  listSealKeys: (t) => t.seals.keys(),
  listLostBegins: (t, { prunedTo, limit }) => t.effectSearch.listLost(prunedTo, limit),
  readSealState: (t) => t.seals.state(),
  hasSuspects: (t) => t.runs.hasSuspects(),
  findClaimable: (t, worker, now) => t.claims.find(worker, now),
  nextDueAt: (t) => t.runs.nextDueAt(),
  countOpenRuns: (t, now) => t.runs.countOpen(now),
  listLeases: (t, worker) => t.runs.leases(worker),
  listWorkflows: (t) => t.workflows.list(),
  listSchedules: (t, query) => t.schedules.list(query),
  findSchedule: (t, name) => t.schedules.find(name),
  listDueSchedules: (t, now, query) => t.schedules.listDue(now, query),
  nextScheduleAt: (t, now) => t.schedules.nextAt(now),
  tallyMissed: (t) => t.schedules.tallyMissed(),
  listTickMoments: (t, id, between) => t.ticks.listMoments(id, between),
  loadLimit: (t, key) => t.limits.load(key),
  listActions: (t, query) => t.audits.list(query),
  listEffects: (t, { after, ...query }) =>
    after === undefined ? t.effectSearch.list(query) : t.effectSearch.listAfter(after, query),
  searchEffects: (t, filter, slice) => t.effectSearch.search(filter, slice),
  pageEffects: (t, query) => t.effectSearch.page(query),
  listStops: (t) => t.stops.list(),
  listGuardUse: (t, now) => t.guard.list(now),
  listApprovals: (t, query) => t.approvalSearch.list(query),
  findApproval: (t, id, now) => t.approvalSearch.read(id, now),
  listApprovalIds: (t, beginning, limit) => t.approvalSearch.ids(beginning, limit),
  listApprovalItems: (t, { approval, after = 0, limit }) => t.approvalSearch.listItems(approval, after, limit),
  findQuestion: (t, runId, step, now) => t.approvalSearch.findQuestion(runId, step, now),
  listApprovers: (t) => t.approvers.list(),
  listVotes: (t, query) => t.votes.list(query),
  findSession: (t, cookieHash) => t.access.findSession(cookieHash),
  findLoginCode: (t, codeHash, now) => t.access.findCode(codeHash, now),
  listSessions: (t, now) => t.access.listSessions(now),
  findToken: (t, tokenHash) => t.access.findToken(tokenHash),
  listTokens: (t) => t.access.listTokens(),
  findDueHour: (t, now) => t.hours.findDue(now),
  readHourRuns: (t, hour, after) => t.hours.readRuns(hour, after),
  countHourRuns: (t, hour, slice) => t.hours.countOf(hour, slice),
  readHourDeliveries: (t, hour) => t.hours.readDeliveries(hour),
  listRunHours: (t, query) => t.hours.listRuns(query),
  listDeliveryHours: (t, since) => t.hours.listDeliveries(since),
  countRuns: (t, since) => t.hours.count(since),
  listProcesses: (t) => t.processes.list(),
  findBulk: (t, id) => t.bulks.find(id),
  listBulks: (t, query) => t.bulks.list(query),
  listTextTables: async (t) => t.textSearch.list(),
  findTexts: (t, query) => t.textSearch.find(query),
  countPrunable: (t, question) => t.pruneCounts.count(question),
  listBulkRefusals: (t, id) => t.bulks.listRefusals(id),
}

type SetupReads = Pick<ReadStore, 'findEndpoint' | 'listEndpoints' | 'listRoutes' | 'readSetupVersion'>

/** The reads that need no table. */
export function readsOfSetup(setup: SetupCache): SetupReads & Pick<ReadStore, 'packOutput'> {
  return {
    packOutput,
    readSetupVersion: async () => (await setup.get()).version,
    findEndpoint: async (path) => (await setup.get()).endpoints.get(path) ?? null,
    listEndpoints: async () => [...(await setup.get()).endpoints.values()],
    listRoutes: async () => (await setup.get()).routes,
  }
}
