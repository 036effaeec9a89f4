import { UpshotError } from '../../core/errors.ts'
import { LEASE_MS, type Lease } from '../../core/runs/lease.ts'
import type { PackedOutput } from '../../core/runs/step.ts'
import type { DeliveryWrites } from '../../core/store/deliveries.ts'
import type { EndpointWrites } from '../../core/store/endpoints.ts'
import type { EventWrites } from '../../core/store/events.ts'
import type { JournalWrites } from '../../core/store/journal.ts'
import type { LimitWrites } from '../../core/store/limits.ts'
import type { MatchWrites } from '../../core/store/matches.ts'
import type { OperationWrites } from '../../core/store/operations.ts'
import type { RetentionWrites } from '../../core/store/retention.ts'
import type { RunWrites } from '../../core/store/runs.ts'
import type { AuditWrites } from '../../core/store/safety/audit.ts'
import type { OperatorWrite } from '../../core/store/safety/operator-writes.ts'
import type { ScheduleWrites } from '../../core/store/schedules.ts'
import type { StoreWrites } from '../../core/store/store.ts'
import type { WorkerWrites } from '../../core/store/workers.ts'
import type { WorkflowWrites } from '../../core/store/workflows.ts'
import { describeStale, describeStalePlan } from '../rows/runs/describe-stale.ts'
import { isInLedger } from '../rows/safety/is-in-ledger.ts'
import type { Ending } from '../tables/runs/run-table.ts'
import type { GroupCommit } from './database/group-commit.ts'
import { sweepWrites } from './health/sweep-writes.ts'
import { approvalWrites, effectWrites } from './limits/effect-writes.ts'
import { accessWrites } from './safety/access-writes.ts'
import { sealWrites } from './safety/seal-writes.ts'
import type { Tables } from './tables.ts'

/** Held runs that one recovery releases at most. */
const MAX_RELEASED = 500

/** Slices of what is decided about long lists that one recovery carries out at most. */
const MAX_SLICES = 4

/** Performs a write as part of a group commit. */
type Commit = Pick<GroupCommit, 'write'>

/** The write half of the store. In this folder, only this file lists the writes. */
export function createWriter(tables: Tables, commit: Commit): StoreWrites {
  return {
    ...deliveryWrites(tables, commit),
    ...eventWrites(tables, commit),
    ...endpointWrites(tables, commit),
    ...workflowWrites(tables, commit),
    ...scheduleWrites(tables, commit),
    ...workerWrites(tables, commit),
    ...runWrites(tables, commit),
    ...journalWrites(tables, commit),
    ...matchWrites(tables, commit),
    ...operationWrites(tables, commit),
    ...retentionWrites(tables, commit),
    ...limitWrites(tables, commit),
    ...auditWrites(tables, commit),
    ...accessWrites(tables, commit),
    ...effectWrites(tables, commit),
    ...approvalWrites(tables, commit),
    ...sealWrites(tables, commit),
    saveAlertBook: (rule, book, version) => commit.write(() => tables.alerts.save(rule, book, version)),
    saveShadow: (workflow, shadow) => commit.write(() => tables.shadows.save(workflow, shadow)),
    saveShapeBook: (book, version) => commit.write(() => tables.shapes.save(book, version)),
    keepAlertBooks: (rules) => commit.write(() => tables.alerts.keep(rules)),
    ...sweepWrites(tables, commit),
    saveHour: (due, counted) => commit.write(() => tables.hours.save(due, counted)),
    beatProcess: (process) => commit.write(() => tables.processes.beat(process)),
    removeProcess: (id) => commit.write(() => tables.processes.remove(id)),
    checkWritable: (now) => commit.write(() => tables.writeProbe.run(now)),
  }
}

function deliveryWrites({ deliveries, refusals, captures, setupVersion }: Tables, commit: Commit): DeliveryWrites {
  return {
    saveDelivery: (delivery) =>
      commit.write(
        async () =>
          delivery.setup === undefined || delivery.setup === setupVersion() ? await deliveries.save(delivery) : null,
        (receipt) => {
          if (receipt === null) throw describeStalePlan(delivery.id)
          return receipt
        },
      ),
    saveRefusal: (delivery) => commit.write(() => refusals.save(delivery)),
    countRefusals: (unlisted) => commit.write(() => refusals.count(unlisted)),
    saveCapture: (capture) => commit.write(() => captures.save(capture)),
    dropCaptures: (endpointId) => commit.write(() => captures.drop(endpointId)),
  }
}

function eventWrites({ operations, eventSearch }: Tables, commit: Commit): EventWrites {
  return {
    saveSubjects: (batch) => commit.write(() => eventSearch.subjects.save(batch)),
    replayEvent: (event, workflows, now) => commit.write(() => operations.replay(event, workflows, now)),
  }
}

function endpointWrites({ accounts, captures, endpoints }: Tables, commit: Commit): EndpointWrites {
  return {
    addEndpoint: (endpoint) => commit.write(() => endpoints.add(endpoint)),
    updateEndpoint: (endpoint) =>
      commit.write(async () => {
        await endpoints.update(endpoint)
        if (endpoint.status === 'disabled') await captures.drop(endpoint.id)
      }),
    removeEndpoint: (endpoint, now) =>
      commit.write(async () => {
        await endpoints.remove(endpoint, now)
        await captures.drop(endpoint.id)
      }),
    saveAccount: (account) => commit.write(() => accounts.save(account)),
    removeAccount: (name) => commit.write(() => accounts.remove(name)),
  }
}

function workflowWrites({ workers, workflows }: Tables, commit: Commit): WorkflowWrites {
  return {
    saveWorkflows: (loaded, now) =>
      commit.write(async () => workflows.save(loaded, await workers.living(now, LEASE_MS), now)),
    removeWorkflow: (workflow, now) =>
      commit.write(async () => workflows.remove(workflow, await workers.living(now, LEASE_MS))),
    pauseWorkflow: (workflow, now) => commit.write(() => workflows.pause(workflow, now)),
    holdRuns: (workflow, limit) => commit.write(() => workflows.holdPending(workflow, limit)),
    resumeWorkflow: (workflow) => commit.write(() => workflows.resume(workflow)),
    releaseHeldRuns: (workflow, limit) => commit.write(() => workflows.releaseHeld(workflow, limit)),
  }
}

function scheduleWrites({ ticks }: Tables, commit: Commit): ScheduleWrites {
  return {
    startSchedule: (workflow, expression, now) => commit.write(() => ticks.start(workflow, expression, now)),
    noteMissed: (workflow, missed, since) => commit.write(() => ticks.noteMissed(workflow, missed, since)),
    recordTick: (workflow, tick, now, options) => commit.write(() => ticks.record(workflow, tick, now, options)),
    pauseSchedule: (workflow, isPaused, now) => commit.write(() => ticks.pause(workflow, isPaused, now)),
  }
}

function workerWrites({ decisions, workers, workflows }: Tables, commit: Commit): WorkerWrites {
  return {
    startWorker: (worker, now) => commit.write(() => workers.start(worker, now)),
    beatWorker: (worker, now) => commit.write(() => workers.beat(worker, now)),
    recoverRuns: (now, leaseMs) =>
      commit.write(async () => {
        await workflows.releaseForgotten(MAX_RELEASED)
        // The process that decided may have died before it carried it out.
        for (let slice = 0; slice < MAX_SLICES && (await decisions.carryOut(now)) !== null; slice++);
        return workers.recover(now, leaseMs)
      }),
    endWorker: (worker, harm = null) => commit.write(() => workers.end(worker, harm)),
    stopWorker: (worker) => commit.write(() => workers.stop(worker)),
  }
}

function runWrites({ runs, claims, gates, admissions, outputs, waits }: Tables, commit: Commit): RunWrites {
  const end = (lease: Lease, ending: Ending, now: number, output?: string | PackedOutput) =>
    writeLeased(commit, lease, async () => {
      if (!(await runs.end(lease, typeof output === 'string' ? { ...ending, output } : ending, now))) return false
      if (typeof output === 'object') await outputs.saveOfRun(lease.runId, output)
      return waits.runEnded(lease.runId, now)
    })
  return {
    claimRuns: (worker, limit, now) =>
      commit.write(async () => {
        const claimed = await claims.claim(worker, limit, now)
        for (const run of claimed) if (run.isAdmitted) await gates.start(run.lease.runId, now)
        return claimed
      }),
    admitRun: (lease, plan, now) =>
      commit.write(
        () => admissions.decide(lease, plan, now),
        (answer) => {
          if (answer === null) throw describeStale(lease)
          return answer
        },
      ),
    claimSuspects: (worker, limit, now) => commit.write(() => claims.claimSuspects(worker, limit, now)),
    claimUnadmittedRuns: (worker, limit, now) => commit.write(() => claims.claimUnadmitted(worker, limit, now)),
    completeRun: (lease, output, now) => end(lease, { status: 'completed' }, now, output),
    endPlanned: (lease, { reason, plan }, now) => end(lease, { status: 'planned', reason }, now, plan),
    failRun: (lease, error, now, followUp) =>
      writeLeased(commit, lease, async () => {
        if (!(await runs.end(lease, { status: 'failed', error }, now))) return false
        await waits.runEnded(lease.runId, now)
        await waits.closeChildren(lease.runId, now)
        await runs.noteFailureKind(lease.runId, error)
        if (followUp) await runs.followUp(lease.runId, now)
        return true
      }),
    skipRun: (lease, reason, now) => end(lease, { status: 'skipped', reason }, now),
    continueRun: (lease, successor, now) =>
      writeLeased(
        commit,
        lease,
        async () => (await runs.continueAs(lease, successor, now)) && waits.runEnded(lease.runId, now),
      ),
    parkRun: (lease, park) => writeLeased(commit, lease, () => runs.park(lease, park)),
    postponeRun: (lease, retry) => writeLeased(commit, lease, () => runs.postpone(lease, retry)),
    releaseRun: (lease) => writeLeased(commit, lease, () => runs.release(lease)),
  }
}

function journalWrites({ runs, steps, outputs, waits, runLogs, effects }: Tables, commit: Commit): JournalWrites {
  return {
    saveRunLog: (lines) => commit.write(() => runLogs.save(lines)),
    saveCheckpoint: (lease, checkpoint, failure, saved) =>
      writeLeased(commit, lease, async () => {
        if (!(await runs.lock(lease))) return false
        await steps.save(lease.runId, checkpoint, failure)
        if (saved?.packed) await outputs.save(lease.runId, checkpoint.key, saved.packed)
        if (saved) await waits.saveWithStep(lease.runId, checkpoint.key, saved)
        if (isInLedger(checkpoint, saved)) await effects.end(lease.runId, checkpoint, saved?.effect)
        return true
      }),
  }
}

function matchWrites({ runs, waits, cursors }: Tables, commit: Commit): MatchWrites {
  return {
    watchRun: (lease, cancels, now) =>
      commit.write(async () => (await runs.lock(lease)) && waits.watchRun(lease.runId, cancels, now)),
    openMatchCursor: (cursor, now) => commit.write(() => cursors.openForWaits(cursor, now)),
    saveMatches: (batch, now) => commit.write(() => waits.saveMatches(batch, now)),
  }
}

function operationWrites(
  { operations, waits, failureStates, bulks, bulkSlices }: Tables,
  commit: Commit,
): OperationWrites {
  return {
    startBulk: (plan) => commit.write(() => bulks.start(plan)),
    abortBulk: (id, now) => commit.write(() => bulks.abort(id, now)),
    claimBulk: (owner, now) => commit.write(() => bulks.claim(owner, now)),
    countBulk: (slice, count, now) => commit.write(() => bulkSlices.count(slice, count, now)),
    performBulk: (slice, now) => commit.write(() => bulkSlices.perform(slice, now)),
    saveFailureState: (state) => commit.write(() => failureStates.save(state)),
    startRun: (start) => commit.write(() => operations.start(start)),
    cancelRun: (runId, reason, now) => commit.write(async () => (await waits.cancel(runId, reason, now)).length > 0),
    retryRun: (runId, now) => commit.write(() => operations.retry(runId, now)),
    resolveRun: (runId, resolution) => commit.write(() => operations.resolve(runId, resolution)),
    unresolveRun: (runId) => commit.write(() => operations.unresolve(runId)),
    resumeRun: (runId, options) => commit.write(() => operations.resume(runId, options)),
    skipSleep: (runId, now) => commit.write(() => operations.skipSleep(runId, now)),
    forkRun: (runId, fork, now) => commit.write(() => operations.fork(runId, fork, now)),
  }
}

function retentionWrites({ retention }: Tables, commit: Commit): RetentionWrites {
  return {
    prune: (slice) => commit.write(() => retention.prune(slice)),
    // A file gives no space back however its rows go, so it has no weeks.
    pruneWeek: async () => null,
  }
}

function limitWrites({ limits }: Tables, commit: Commit): LimitWrites {
  return {
    saveLimit: (key, state, version) => commit.write(() => limits.save(key, state, version)),
  }
}

/** The writes of operators, each with its audit row in the same commit. */
function auditWrites(tables: Tables, commit: Commit): AuditWrites {
  const { audits } = tables
  return {
    operate: async (entry, { write, args }) => {
      try {
        const value = await commit.write(async () => {
          const written = await performNow(tables, write, args)
          await audits.add(entry, written === false || written === null ? 'unchanged' : 'done')
          return written
        })
        return value as never
      } catch (error) {
        // The refused write changed nothing, so that its row is a commit of its own.
        if (error instanceof UpshotError && error.code !== 'store_unavailable')
          await commit.write(() => audits.add(entry, 'refused', error.message))
        throw error
      }
    },
    recordAction: (entry, outcome) => commit.write(() => audits.add(entry, outcome)),
  }
}

/** Performs a write at once, within the transaction that is open. */
function performNow(tables: Tables, name: OperatorWrite, args: readonly unknown[]): Promise<unknown> {
  const commit = {
    async write(mutate: () => unknown, read?: (value: never) => unknown) {
      const written = await mutate()
      return read ? read(written as never) : written
    },
  }
  const write = createWriter(tables, commit as Commit)[name] as (...args: unknown[]) => Promise<unknown>
  return write(...args)
}

/** A write under a lease; rejects with `stale_lease` if the run was canceled or taken over. */
function writeLeased(commit: Commit, lease: Lease, write: () => Promise<boolean>): Promise<void> {
  return commit.write(write, (isLeased) => {
    if (!isLeased) throw describeStale(lease)
  })
}
