import { UpshotError } from '../../core/errors.ts'
import type { Lease } from '../../core/runs/lease.ts'
import type { ReadStore, Store } from '../../core/store/store.ts'
import type { GroupCommit } from './database/group-commit.ts'
import type { Tables } from './tables.ts'

/** The writing half of the store: every call is a part of some group commit. */
export type StoreWriter = Omit<Store, keyof ReadStore | 'close'>

/** Runs that one recovery lets go at most. */
const MOST_RELEASED = 500

export function createWriter(tables: Tables, commit: GroupCommit): StoreWriter {
  const { accounts, deliveries, captures, writeProbe, endpoints } = tables
  const { ticks, runs, steps, workers, workflows, operations, retention, gates, admissions } = tables
  const { outputs, waits, watches, limits } = tables
  const held = (lease: Lease, write: () => boolean) =>
    commit.write(write, (isHeld) => {
      if (!isHeld) throw describeStale(lease)
    })
  return {
    saveDelivery: (delivery) => commit.write(() => deliveries.save(delivery)),
    saveRefusal: (delivery) => commit.write(() => deliveries.refuse(delivery)),
    countRefusals: (unlisted) => commit.write(() => deliveries.countRefusals(unlisted)),
    saveCapture: (capture) => commit.write(() => captures.save(capture)),
    dropCaptures: (endpointId) => commit.write(() => captures.drop(endpointId)),
    probe: (now) => commit.write(() => writeProbe.run(now)),
    addEndpoint: (endpoint) => commit.write(() => endpoints.add(endpoint)),
    updateEndpoint: (endpoint) =>
      commit.write(() => {
        endpoints.update(endpoint)
        if (endpoint.status !== 'learning') captures.drop(endpoint.id)
      }),
    removeEndpoint: (endpoint, now) =>
      commit.write(() => {
        endpoints.remove(endpoint, now)
        captures.drop(endpoint.id)
      }),
    saveAccount: (account) => commit.write(() => accounts.save(account)),
    removeAccount: (name) => commit.write(() => accounts.remove(name)),

    startSchedule: (workflow, expression, now) => commit.write(() => ticks.start(workflow, expression, now)),
    recordTick: (workflow, tick, now, options) => commit.write(() => ticks.record(workflow, tick, now, options)),
    pauseSchedule: (workflow, isPaused, now) => commit.write(() => ticks.pause(workflow, isPaused, now)),

    saveWorkflows: (loaded, now) => commit.write(() => workflows.save(loaded, now)),
    pauseWorkflow: (workflow, now) => commit.write(() => workflows.pause(workflow, now)),
    holdRuns: (workflow, limit) => commit.write(() => workflows.holdPending(workflow, limit)),
    resumeWorkflow: (workflow) => commit.write(() => workflows.resume(workflow)),
    releaseHeldRuns: (workflow, limit) => commit.write(() => workflows.releaseHeld(workflow, limit)),

    startWorker: (worker, now) => commit.write(() => workers.start(worker, now)),
    beatWorker: (worker, now) => commit.write(() => workers.beat(worker, now)),
    recoverRuns: (now, leaseMs) =>
      commit.write(() => {
        workflows.releaseForgotten(MOST_RELEASED)
        return workers.recover(now, leaseMs)
      }),
    stopWorker: (worker) => commit.write(() => workers.stop(worker)),

    claimRuns: (worker, limit, now) =>
      commit.write(() => {
        const claimed = runs.claim(worker, limit, now)
        for (const run of claimed) if (run.isLetIn) gates.start(run.workflow, run.lease.runId, now)
        return claimed
      }),
    claimUnseenRuns: (worker, limit, now) => commit.write(() => runs.claimUnseen(worker, limit, now)),
    admitRun: (lease, plan, now) =>
      commit.write(
        () => admissions.decide(lease, plan, now),
        (answer) => {
          if (answer === null) throw describeStale(lease)
          return answer
        },
      ),
    saveCheckpoint: (lease, checkpoint, failure, alongside) =>
      held(lease, () => {
        if (!steps.save(lease, checkpoint, failure)) return false
        if (alongside?.packed) outputs.save(lease.runId, checkpoint.key, alongside.packed)
        if (alongside) waits.saveAlongside(lease.runId, checkpoint.key, alongside)
        return true
      }),
    watchRun: (lease, cancels, now) =>
      commit.write(() => runs.isHeld(lease) && waits.watchRun(lease.runId, cancels, now)),
    completeRun: (lease, output, now) =>
      held(lease, () => {
        const isSmall = typeof output === 'string'
        if (!runs.complete(lease, isSmall ? output : null, now)) return false
        if (!isSmall) outputs.saveOfRun(lease.runId, output)
        return waits.runEnded(lease.runId)
      }),
    failRun: (lease, error, now, followUp) =>
      held(lease, () => runs.fail(lease, error, now, followUp) && waits.runEnded(lease.runId)),
    skipRun: (lease, reason, now) => held(lease, () => runs.skip(lease, reason, now) && waits.runEnded(lease.runId)),
    parkRun: (lease, park) => held(lease, () => runs.park(lease, park)),
    retryRun: (lease, retry) => held(lease, () => runs.retry(lease, retry)),
    releaseRun: (lease) => held(lease, () => runs.release(lease)),
    cancelRun: (runId, reason, now) => commit.write(() => waits.cancel(runId, reason, now).length > 0),
    openWatch: (watch, now) => commit.write(() => watches.openForWaits(watch, now)),
    saveMatches: (batch, now) => commit.write(() => waits.saveMatches(batch, now)),

    reopenRun: (runId) => commit.write(() => operations.reopen(runId)),
    resumeRun: (runId, options) => commit.write(() => operations.resume(runId, options)),
    forkRun: (runId, fork, now) => commit.write(() => operations.fork(runId, fork, now)),
    replayEvent: (event, workflows, now) => commit.write(() => operations.replay(event, workflows, now)),
    prune: (slice) => commit.write(() => retention.prune(slice)),

    saveLimit: (key, state, version) => commit.write(() => limits.save(key, state, version)),
  }
}

function describeStale({ runId }: Lease): UpshotError {
  return new UpshotError('stale_lease', `Run ${runId} was canceled or taken over; this worker may not write it.`)
}
