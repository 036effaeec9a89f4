import { UpshotError } from '../core/errors.ts'
import type { Endpoint } from '../core/incoming/endpoint.ts'
import type { EventRecord } from '../core/incoming/event.ts'
import type { LoadedWorkflows, SavedWorkflows } from '../core/runs/workflow-record.ts'
import type { Seal } from '../core/safety/ledger/seal.ts'
import type { StoreWrites } from '../core/store/store.ts'
import { type Bound, type Listed, type Members, nameCalls } from './name-calls.ts'
import { carryOutDecision, RUN_WRITES, type Tables } from './run-writes.ts'
import { addApprover, removeApprover } from './tables/approvals/approver-table.ts'
import { beginByHand, endByHand, resumeEffects, startPlanned, stopEffects } from './tables/limits/effect-writes.ts'

/** Writes by the table that makes them, under the same name. */
const LISTED = {
  refusals: ['saveRefusal', 'countRefusals'],
  captures: ['saveCapture', 'dropCaptures'],
  replays: ['replayEvent'],
  operations: ['startRun', 'retryRun', 'resolveRun', 'unresolveRun', 'resumeRun', 'forkRun', 'skipSleep'],
  endpoints: ['addEndpoint'],
  accounts: ['saveAccount', 'removeAccount'],
  workflows: ['pauseWorkflow', 'holdRuns', 'resumeWorkflow', 'releaseHeldRuns'],
  schedules: [
    'addSchedule',
    'editSchedule',
    'noteMissed',
    'lookAtSchedule',
    'relookSchedules',
    'pauseSchedule',
    'pruneSchedules',
    'removeSchedule',
  ],
  ticks: ['recordTick'],
  workers: ['startWorker', 'beatWorker', 'endWorker', 'stopWorker'],
  runLogs: ['saveRunLog'],
  hooks: ['loadHookKey', 'answerHook'],
  cursors: ['openMatchCursor'],
  waits: ['saveMatches'],
  bulks: ['startBulk', 'abortBulk', 'claimBulk'],
  bulkSlices: ['countBulk', 'performBulk'],
  failureStates: ['saveFailureState'],
  effects: ['noteOutside'],
  decisions: ['decideApproval'],
  audits: ['recordAction'],
  access: ['saveLoginCode', 'startSession', 'touchSession', 'endSession', 'saveToken', 'touchToken', 'revokeToken'],
  textErasures: ['eraseTexts'],
  retention: ['prune'],
  hours: ['saveHour'],
  processes: ['beatProcess', 'removeProcess'],
  books: ['saveAlertBook', 'keepAlertBooks', 'saveShapeBook', 'saveLimit'],
  sweeps: ['saveSweep', 'savePage'],
  findings: ['saveFileBook', 'moveFinding', 'makeUpEvent'],
  keptAnswers: ['beginAnswer', 'endAnswer'],
  seals: ['sealEffects'],
  admissions: ['admitRun'],
  permits: ['beginEffects', 'beginPart', 'reserveEffects'],
} as const satisfies Members<Tables>

const setup = {
  /**
   * Changes all but id, name, path and `createdAt`, and raises the revision. Captures stay for the
   * receiver to take in, unless it is disabled. `not_found` without the endpoint, `conflict` when
   * its revision has risen since.
   */
  async updateEndpoint(t: Tables, endpoint: Endpoint): Promise<void> {
    await t.endpoints.update(endpoint)
    if (endpoint.status === 'disabled') await t.captures.dropCaptures(endpoint.id)
  },
  /**
   * Removes an endpoint and its secrets for good; its name is free again, its deliveries stay.
   * `not_found` without the endpoint.
   */
  async removeEndpoint(t: Tables, endpoint: Pick<Endpoint, 'id' | 'name'>, now: number): Promise<void> {
    await t.endpoints.remove(endpoint, now)
    await t.captures.dropCaptures(endpoint.id)
  },
  /**
   * Saves workflows, routes and schedules in one commit. The rows of broken modules and of other
   * workers at work stay, so that their events are kept.
   */
  async saveWorkflows(t: Tables, loaded: LoadedWorkflows, now: number): Promise<SavedWorkflows> {
    return t.workflows.save(loaded, () => t.workers.living(now), { now })
  },
  /**
   * Gives the workflows the definitions that the workers at work have, where they are of `version`.
   * Returns the version of those that differ; null: none does. Removes none. A worker that others
   * took for dead has what it `loaded` again. See decision 39.
   */
  async reviewWorkflows(
    t: Tables,
    loaded: LoadedWorkflows,
    version: number | null,
    now: number,
  ): Promise<number | null> {
    return t.workflows.review(loaded, () => t.workers.living(now), { now, version })
  },
  /**
   * Removes a workflow that no worker at work has. Throws `not_found`, and `conflict` while one has
   * it.
   */
  async removeWorkflow(t: Tables, workflow: string, now: number): Promise<void> {
    return t.workflows.remove(workflow, () => t.workers.living(now), now)
  },
  /**
   * Starts the runs of an event whose deliveries so far came by endpoints that leave its type out.
   * Returns how many: 0 for every other event.
   */
  async startLeftOut(
    t: Tables,
    { account, id }: Pick<EventRecord, 'account' | 'id'>,
    workflows: readonly string[],
    now: number,
  ): Promise<number> {
    const event = await t.events.findIn(account, id)
    if (!event || !(await t.ledger.takeLeftOut(event))) return 0
    await t.ownEvents.start(event.seq, workflows, { createdAt: now, depth: 0 })
    return workflows.length
  },
  /** Sends the event of a schedule, once. False where it is another than the scheduler saw. */
  async sendScheduled(t: Tables, id: string, version: number, now: number): Promise<boolean> {
    const event = await t.schedules.takeEvent(id, version, now)
    if (event) await t.ownEvents.tell(event, now)
    return event !== null
  },
}

const safety = {
  stopEffects,
  resumeEffects,
  beginByHand,
  endByHand,
  carryOutDecision,
  startPlanned,
  addApprover,
  removeApprover,
  /**
   * Lets effects that the guard holds ask again. Wakes the first of their runs, and returns how
   * many; `carryOutDecision` wakes the rest.
   */
  async askAgain(t: Tables): Promise<number> {
    await t.stops.lock()
    return t.approvalWaits.asking.begin('guard')
  },
  /**
   * Appends to ledger and chain that the database was restored from a backup. Anchors that the
   * backup does not have are no break then. Returns the seal.
   */
  async noteRestored(t: Tables, { actor, reason, now }: { actor: string; reason: string; now: number }): Promise<Seal> {
    await t.seals.lock()
    await t.effects.note({ at: now, phase: 'noted', operation: 'restored', actor, error: reason })
    return t.seals.append({ kind: 'restored', at: now, note: `${actor}: ${reason}` })
  },
}

const joined = { ...setup, ...RUN_WRITES, ...safety }

/** The writes that are one transaction in either database. */
export type Transactions = Listed<Tables, typeof LISTED> & Bound<typeof joined>

/** Every write that is one transaction, by its name. */
export const TRANSACTIONS = nameCalls<Tables, Transactions>(LISTED, joined)

/** The writes of operators, each with its audit row in the one transaction of `write`. */
export function createOperate<T extends Tables>(
  write: <Value>(perform: (tables: T) => Promise<Value>) => Promise<Value>,
): StoreWrites['operate'] {
  return async (entry, { write: name, args }) => {
    try {
      const value = await write(async (tables) => {
        const written = await TRANSACTIONS[name](tables, ...args)
        await tables.audits.recordAction(entry, written === false || written === null ? 'unchanged' : 'done')
        return written
      })
      return value as never
    } catch (error) {
      // The refused write changed nothing, so that its row is a commit of its own.
      if (error instanceof UpshotError && error.code !== 'store_unavailable')
        await write((tables) => tables.audits.recordAction(entry, 'refused', error.message))
      throw error
    }
  }
}
