import { UpshotError } from '../core/errors.ts'
import type { Lease } from '../core/runs/lease.ts'
import type { AuditWrites } from '../core/store/safety/audit.ts'
import type { StoreWrites } from '../core/store/store.ts'
import { describeStale } from './rows/runs/describe-stale.ts'
import { addApprover, removeApprover } from './tables/approvals/approver-table.ts'
import { beginByHand, endByHand, resumeEffects, stopEffects } from './tables/limits/effect-writes.ts'
import { startPlanned } from './tables/limits/start-planned.ts'
import type { openSharedTables } from './tables/open-shared-tables.ts'
import type { Ending } from './tables/runs/run-table.ts'
import type { Workers } from './tables/runs/workers.ts'
import { isInLedger } from './tables/safety/effect-table.ts'
import type { Pruning } from './tables/upkeep/pruning.ts'

/** Held runs that one recovery releases at most. */
const MAX_RELEASED = 500

/** Slices of what is decided about long lists that one recovery carries out at most. */
const MAX_SLICES = 4

/** Writes that each database makes in its own way. */
type Composed =
  | 'checkWritable'
  | 'claimRuns'
  | 'claimSuspects'
  | 'claimUnadmittedRuns'
  | 'operate'
  | 'pruneWeek'
  | 'saveDelivery'
  | 'saveSubjects'

/** The tables that both databases open, each in its own way where it is other. */
export type Tables = ReturnType<typeof openSharedTables> & { workers: Workers; retention: Pruning }

/** A write within one transaction. */
type Transaction<Name extends keyof StoreWrites> = (
  tables: Tables,
  ...args: Parameters<StoreWrites[Name]>
) => ReturnType<StoreWrites[Name]>

export type Transactions = { [Name in Exclude<keyof StoreWrites, Composed>]: Transaction<Name> }

const incoming = {
  saveRefusal: (t, delivery) => t.refusals.save(delivery),
  countRefusals: (t, unlisted) => t.refusals.count(unlisted),
  saveCapture: (t, capture) => t.captures.save(capture),
  dropCaptures: (t, endpointId) => t.captures.drop(endpointId),
  replayEvent: (t, event, workflows, now) => t.operations.replay(event, workflows, now),
  addEndpoint: (t, endpoint) => t.endpoints.add(endpoint),
  async updateEndpoint(t, endpoint) {
    await t.endpoints.update(endpoint)
    if (endpoint.status === 'disabled') await t.captures.drop(endpoint.id)
  },
  async removeEndpoint(t, endpoint, now) {
    await t.endpoints.remove(endpoint, now)
    await t.captures.drop(endpoint.id)
  },
  saveAccount: (t, account) => t.accounts.save(account),
  removeAccount: (t, name) => t.accounts.remove(name),
} satisfies Partial<Transactions>

const workflows = {
  saveWorkflows: async (t, loaded, now) => t.workflows.save(loaded, await t.workers.living(now), now),
  removeWorkflow: async (t, workflow, now) => t.workflows.remove(workflow, await t.workers.living(now), now),
  pauseWorkflow: (t, workflow, now) => t.workflows.pause(workflow, now),
  holdRuns: (t, workflow, limit) => t.workflows.holdPending(workflow, limit),
  resumeWorkflow: (t, workflow) => t.workflows.resume(workflow),
  releaseHeldRuns: (t, workflow, limit) => t.workflows.releaseHeld(workflow, limit),
} satisfies Partial<Transactions>

const schedules = {
  addSchedule: (t, schedule, now) => t.schedules.add(schedule, now),
  editSchedule: (t, schedule, now) => t.schedules.edit(schedule, now),
  removeSchedule: (t, { id }) => t.schedules.remove(id),
  noteMissed: (t, id, missed, since) => t.schedules.noteMissed(id, missed, since),
  recordTick: (t, id, tick, now, options) => t.ticks.record(id, tick, now, options),
  lookAtSchedule: (t, id, look, now) => t.schedules.lookAt(id, look, now),
  relookSchedules: (t, now) => t.schedules.relook(now),
  async sendScheduled(t, id, version, now) {
    const event = await t.schedules.takeEvent(id, version, now)
    if (event) await t.ownEvents.tell(event)
    return event !== null
  },
  pauseSchedule: (t, id, isPaused, now) => t.schedules.pause(id, isPaused, now),
  pruneSchedules: (t, before, limit) => t.schedules.prune(before, limit),
} satisfies Partial<Transactions>

const workers = {
  startWorker: (t, worker, now) => t.workers.start(worker, now),
  beatWorker: (t, worker, now) => t.workers.beat(worker, now),
  async recoverRuns(t, now, leaseMs) {
    // The process that decided may have died before it carried it out.
    for (let slice = 0; slice < MAX_SLICES && (await carryOut(t, now)) !== null; slice++);
    await t.workflows.releaseForgotten(MAX_RELEASED)
    return t.workers.recover(now, leaseMs)
  },
  endWorker: (t, worker, harm = null) => t.workers.end(worker, harm),
  stopWorker: (t, worker) => t.workers.stop(worker),
} satisfies Partial<Transactions>

/** One more slice of what was decided about many; null where nothing is left. */
async function carryOut(t: Tables, now: number): Promise<number | null> {
  return (await t.waits.closeMore(now)) ? 0 : t.decisions.carryOut(now)
}

const runs = {
  async admitRun(t, lease, plan, now) {
    const answer = await t.admissions.decide(lease, plan, now)
    if (answer === null) throw describeStale(lease)
    return answer
  },
  async completeRun(t, lease, output, now) {
    const isSmall = typeof output === 'string'
    await endRun(t, lease, { status: 'completed', output: isSmall ? output : null }, now)
    if (!isSmall) await t.outputs.saveOfRun(lease.runId, output)
    return undefined
  },
  async failRun(t, lease, error, now, followUp) {
    await endRun(t, lease, { status: 'failed', error }, now)
    await t.waits.closeChildren(lease.runId, now)
    await t.runs.noteFailureKind(lease.runId, error)
    if (followUp) await t.runs.followUp(lease.runId, now)
  },
  skipRun: (t, lease, reason, now) => endRun(t, lease, { status: 'skipped', reason }, now),
  async endPlanned(t, lease, { reason, plan }, now) {
    const isSmall = typeof plan === 'string'
    await endRun(t, lease, { status: 'planned', reason, output: isSmall ? plan : null }, now)
    if (!isSmall) await t.outputs.saveOfRun(lease.runId, plan)
  },
  parkRun: async (t, lease, park) => requireHeld(lease, await t.runs.park(lease, park)),
  postponeRun: async (t, lease, retry) => requireHeld(lease, await t.runs.postpone(lease, retry)),
  releaseRun: async (t, lease) => requireHeld(lease, await t.runs.release(lease)),
  async saveCheckpoint(t, lease, checkpoint, failure, saved) {
    requireHeld(lease, await t.runs.lock(lease))
    await t.steps.save(lease.runId, checkpoint, failure)
    if (saved?.packed) await t.outputs.save(lease.runId, checkpoint.key, saved.packed)
    if (saved?.tags) await t.told.saveTags(lease.runId, saved.tags)
    if (saved) await t.waits.saveWithStep(lease.runId, checkpoint.key, saved)
    if (isInLedger(checkpoint, saved)) await t.effects.end(lease.runId, checkpoint, saved?.effect)
  },
  async saveTags(t, lease, tags) {
    requireHeld(lease, await t.runs.lock(lease))
    await t.told.saveTags(lease.runId, tags)
  },
  async saveProgress(t, lease, progress) {
    requireHeld(lease, await t.runs.lock(lease))
    await t.told.saveProgress(lease.runId, progress)
  },
  async continueRun(t, lease, successor, now) {
    requireHeld(lease, await t.runs.continueAs(lease, successor, now))
    await t.waits.runEnded(lease.runId, now)
  },
  saveRunLog: (t, lines) => t.runLogs.save(lines),
} satisfies Partial<Transactions>

/** Ends a run under its lease, with the waits that are for it. */
async function endRun(t: Tables, lease: Lease, ending: Ending, now: number): Promise<void> {
  await t.waits.lockParents(lease.runId)
  requireHeld(lease, await t.runs.end(lease, ending, now))
  await t.waits.runEnded(lease.runId, now)
}

function requireHeld(lease: Lease, isHeld: boolean): void {
  if (!isHeld) throw describeStale(lease)
}

const operations = {
  watchRun: async (t, lease, cancels, now) => (await t.runs.lock(lease)) && t.waits.watchRun(lease.runId, cancels, now),
  loadHookKey: (t) => t.hooks.loadKey(),
  answerHook: (t, answer) => t.hooks.answer(answer),
  openMatchCursor: (t, cursor, now) => t.cursors.openForWaits(cursor, now),
  saveMatches: (t, batch, now) => t.waits.saveMatches(batch, now),
  startBulk: (t, plan) => t.bulks.start(plan),
  abortBulk: (t, id, now) => t.bulks.abort(id, now),
  claimBulk: (t, owner, now) => t.bulks.claim(owner, now),
  countBulk: (t, slice, count, now) => t.bulkSlices.count(slice, count, now),
  performBulk: (t, slice, now) => t.bulkSlices.perform(slice, now),
  saveFailureState: (t, state) => t.failureStates.save(state),
  startRun: (t, start) => t.operations.start(start),
  cancelRun: async (t, runId, reason, now) => (await t.waits.cancel(runId, reason, now)).length > 0,
  retryRun: (t, runId, now) => t.operations.retry(runId, now),
  resolveRun: (t, runId, resolution) => t.operations.resolve(runId, resolution),
  unresolveRun: (t, runId) => t.operations.unresolve(runId),
  resumeRun: (t, runId, options) => t.operations.resume(runId, options),
  forkRun: (t, runId, fork, now) => t.operations.fork(runId, fork, now),
} satisfies Partial<Transactions>

const safety = {
  async beginEffects(t, lease, asks, options) {
    const answers = await t.permits.begin(lease, asks, options)
    if (answers === null) throw describeStale(lease)
    return answers
  },
  async beginPart(t, lease, asks, part, options) {
    const answers = await t.permits.beginPart(lease, asks, part, options)
    if (answers === null) throw describeStale(lease)
    return answers
  },
  async reserveEffects(t, lease, list, shares, { now }) {
    const room = await t.permits.reserve(lease, list, shares, now)
    if (room === null) throw describeStale(lease)
    return room
  },
  async askAgain(t) {
    await t.stops.lock()
    return t.approvalWaits.asking.begin('guard')
  },
  stopEffects: (t, stop) => stopEffects(t, stop),
  resumeEffects: (t, scope, by) => resumeEffects(t, scope, by),
  beginByHand: (t, effect) => beginByHand(t, effect),
  endByHand: (t, effect) => endByHand(t, effect),
  noteOutside: (t, act) => t.effects.noteOutside(act),
  decideApproval: (t, decision, now) => t.decisions.decide(decision, now),
  carryOutDecision: (t, now) => carryOut(t, now),
  startPlanned: (t, planned, word, now) => startPlanned(t, planned, word, now),
  addApprover: (t, approver) => addApprover(t, approver),
  removeApprover: (t, name, now) => removeApprover(t, name, now),
  recordAction: (t, entry, outcome) => t.audits.add(entry, outcome),
  beginAnswer: (t, { caller, key, request }, now) => t.keptAnswers.begin(caller, key, request, now),
  endAnswer: (t, { caller, key }, answer) => t.keptAnswers.end(caller, key, answer),
  saveLoginCode: (t, code) => t.access.saveCode(code),
  startSession: (t, session, codeHash) => t.access.startSession(session, codeHash),
  touchSession: (t, id, now) => t.access.touchSession(id, now),
  endSession: (t, id) => t.access.endSession(id),
  saveToken: (t, token) => t.access.saveToken(token),
  touchToken: (t, id, now) => t.access.touchToken(id, now),
  revokeToken: (t, id, now) => t.access.revokeToken(id, now),
} satisfies Partial<Transactions>

/** Every write that is one transaction, by its name. */
export const TRANSACTIONS: Transactions = {
  ...incoming,
  ...workflows,
  ...schedules,
  ...workers,
  ...runs,
  ...operations,
  ...safety,
  eraseTexts: (t, erasure) => t.textErasures.erase(erasure),
  prune: (t, slice) => t.retention.prune(slice),
  saveLimit: (t, key, state, version) => t.limits.save(key, state, version),
  saveHour: (t, due, counted) => t.hours.save(due, counted),
  beatProcess: (t, process) => t.processes.beat(process),
  removeProcess: (t, id) => t.processes.remove(id),
  saveAlertBook: (t, rule, book, version) => t.alerts.save(rule, book, version),
  keepAlertBooks: (t, rules) => t.alerts.keep(rules),
  saveSweep: (t, kept, change) => t.sweeps.save(kept, change),
  savePage: (t, kept, page, files, now) => t.sweeps.savePage(kept, page, files, now),
  saveFileBook: (t, book, version, events) => t.sweeps.saveBook(book, version, events),
  moveFinding: (t, key, from, to, reason) => t.sweeps.moveFinding(key, from, to, reason),
  makeUpEvent: (t, key, event) => t.sweeps.makeUp(key, event),
  saveShapeBook: (t, book, version) => t.shapes.save(book, version),
  skipSleep: (t, runId, now) => t.operations.skipSleep(runId, now),
  sealEffects: (t, { now, limit }) => t.seals.seal(now, limit),
  async noteRestored(t, { actor, reason, now }) {
    await t.seals.lock()
    await t.effects.note({ at: now, phase: 'noted', operation: 'restored', actor, error: reason })
    return t.seals.append({ kind: 'restored', at: now, note: `${actor}: ${reason}` })
  },
}

/**
 * The writes of operators, each with its audit row in the same commit. `write` performs one
 * transaction.
 */
export function createOperate<T extends Tables>(
  write: <Value>(perform: (tables: T) => Promise<Value>) => Promise<Value>,
): AuditWrites['operate'] {
  return async (entry, { write: name, args }) => {
    const perform = TRANSACTIONS[name] as (tables: Tables, ...args: readonly unknown[]) => Promise<unknown>
    try {
      const value = await write(async (tables) => {
        const written = await perform(tables, ...args)
        await tables.audits.add(entry, written === false || written === null ? 'unchanged' : 'done')
        return written
      })
      return value as never
    } catch (error) {
      // The refused write changed nothing, so that its row is a commit of its own.
      if (error instanceof UpshotError && error.code !== 'store_unavailable')
        await write((tables) => tables.audits.add(entry, 'refused', error.message))
      throw error
    }
  }
}
