import type { EventRecord } from '../core/incoming/event.ts'
import type { EventSearch } from '../core/incoming/event-search.ts'
import type { MatchCursor } from '../core/runs/matching.ts'
import type { Checkpoint } from '../core/runs/step.ts'
import type { SearchPart, SearchSlice } from '../core/store/search.ts'
import { type Bound, type Listed, type Members, nameCalls } from './name-calls.ts'
import type { SetupCache } from './tables/incoming/setup-cache.ts'
import type { openSharedTables } from './tables/open-shared-tables.ts'
import { type prepareFirstClaimable, readRecordings } from './tables/runs/claim-reader.ts'
import { packOutput } from './tables/runs/output-table.ts'

/** The parts of tables of each driver that reads ask. */
interface OwnTables {
  eventSearch: {
    /** One slice of the events that match; `searchPage` joins slices. */
    searchEvents(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>>
    /**
     * Like `searchEvents`, but oldest first, for work on all that match; has a `next` of its own.
     */
    walkEvents(search: EventSearch, slice: SearchSlice): Promise<SearchPart<EventRecord>>
  }
  claims: {
    /**
     * A run that a worker may claim now, whatever slots it has; null: none. Runs of paused
     * workflows, suspects, and runs that only other workers at work have the code of are left out.
     */
    findClaimable: ReturnType<typeof prepareFirstClaimable>
  }
}

type Tables = ReturnType<typeof openSharedTables> & OwnTables

/** Reads by the table that answers them, under the same name. */
const LISTED = {
  endpoints: ['listEndpointNames', 'listEndpointUses', 'listSecretUses'],
  accounts: ['findAccount', 'listAccounts'],
  ledger: ['listDeliveries', 'listDeliveryIds', 'listDeliveriesOf', 'countDeliveries', 'findDelivery'],
  refusals: ['tallyRefusals'],
  unmatched: ['tallyUnmatched'],
  captures: ['listCaptures'],
  events: ['listEvents', 'findEvents', 'listEventsOf', 'listEventsAfter'],
  eventSearch: ['searchEvents', 'walkEvents'],
  runSearch: ['listRuns', 'searchRuns', 'groupFailures', 'listRunIds', 'listEndedFailures'],
  failureStates: ['listFailureStates', 'listSettledFailures'],
  runs: [
    'findRun',
    'findInvoked',
    'listRunEvents',
    'hasSuspects',
    'hasNewerFolded',
    'nextDueAt',
    'countOpenRuns',
    'tallyForPerson',
    'listLeases',
  ],
  runLogs: ['listRunLog'],
  steps: ['listSteps', 'listSends', 'listStepFailures'],
  outputs: ['readOutput'],
  waits: ['listEndedWaits', 'findMatch'],
  cursors: ['findUnmatchedSince'],
  hooks: ['findHook', 'listHooks'],
  books: ['loadAlertBook', 'loadShapeBook', 'loadLimit', 'listLimits'],
  sweeps: ['loadSweep', 'listSweeps', 'listSuspects', 'countFiles'],
  findings: ['listReportedFiles', 'hasOwnDelete', 'loadFileBook', 'findFinding', 'listFindings'],
  seals: ['listSeals', 'listSealKeys', 'readSealState'],
  claims: ['findClaimable'],
  workflows: ['listWorkflows'],
  schedules: ['listSchedules', 'findSchedule', 'listDueSchedules', 'nextScheduleAt', 'tallyMissed'],
  ticks: ['listTickMoments'],
  audits: ['listActions'],
  effectSearch: ['listEffects', 'listLostBegins', 'searchEffects', 'pageEffects'],
  stops: ['listStops'],
  guard: ['listGuardUse'],
  approvalSearch: ['listApprovals', 'findApproval', 'listApprovalIds', 'findQuestion', 'listApprovalItems'],
  approvers: ['listApprovers'],
  votes: ['listVotes'],
  access: ['findSession', 'findLoginCode', 'listSessions', 'findToken', 'listTokens'],
  hours: [
    'findDueHour',
    'readHourRuns',
    'countHourRuns',
    'readHourDeliveries',
    'listRunHours',
    'listDeliveryHours',
    'countRuns',
  ],
  processes: ['listProcesses'],
  bulks: ['findBulk', 'listBulks', 'listEndedBulks', 'listBulkRefusals'],
  textSearch: ['listTextTables', 'findTexts'],
  pruneCounts: ['countPrunable'],
} as const satisfies Members<Tables>

const joined = {
  readRecordings,
  /** The keys that a wait needs, in every version, and the newest event's number by stream. */
  async listMatchCursors(t: Tables): Promise<{ cursors: MatchCursor[]; newest: ReadonlyMap<number, number> }> {
    return { cursors: await t.cursors.list(), newest: await t.events.newest() }
  },
  /** Steps of an account's runs that deleted one of these targets, or were about to. */
  async listDeletes(t: Tables, account: string, targets: readonly string[]): Promise<Checkpoint[]> {
    if (targets.length === 0) return []
    return [...(await t.steps.listDeletes(account, targets)), ...(await t.effects.listDeletes(account, targets))]
  },
}

export type TableReads = Listed<Tables, typeof LISTED> & Bound<typeof joined>

export const READS = nameCalls<Tables, TableReads>(LISTED, joined)

/** The reads that need no table. */
export function readsOfSetup(setup: SetupCache) {
  return {
    packOutput,
    readSetupVersion: async () => (await setup.get()).version,
    findEndpoint: async (path: string, at?: number) => (await setup.get(at)).endpoints.get(path) ?? null,
    listEndpoints: async (at?: number) => [...(await setup.get(at)).endpoints.values()],
    listRoutes: async (at?: number) => (await setup.get(at)).routes,
  }
}
