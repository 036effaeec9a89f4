import { describeStalePlan } from '../../core/incoming/route.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Lease } from '../../core/runs/lease.ts'
import type { StoreWrites } from '../../core/store/store.ts'
import { LimitedRuns } from '../limited-runs.ts'
import { createOperate, TRANSACTIONS, type Transactions } from '../transactions.ts'
import type { GroupCommit } from './database/group-commit.ts'
import type { Tables } from './tables.ts'

type Output = Parameters<StoreWrites['completeRun']>[1]

/**
 * The write half of the store: each write is a part of a group commit. Those of runs that hold
 * slots are first, as others stand in line behind them.
 */
export function createWriter(tables: Tables, commit: Pick<GroupCommit, 'write'>): StoreWrites {
  const { claims, deliveries, eventSearch, gates, setupVersion, writeProbe } = tables
  const limited = new LimitedRuns()
  const writes = Object.entries(TRANSACTIONS).map(([name, perform]) => [
    name,
    (...args: unknown[]) => commit.write(() => perform(tables, ...args), limited.hasCall(args)),
  ])
  const started = async (claimed: ClaimedRun[], now: number) => {
    for (const run of claimed) if (run.isAdmitted) await gates.start(run.lease.runId, now)
    return claimed
  }
  const end = async (lease: Lease, output: Output, now: number, handsOn: boolean) => {
    // Earlier ends of this commit may have let in others.
    if (handsOn) await gates.letIn()
    await TRANSACTIONS.completeRun(tables, lease, output, now)
    const [next] = handsOn ? await gates.letIn() : []
    return next === undefined ? undefined : (await started(await claims.claimNext(lease.worker, next, now), now))[0]
  }
  const all: StoreWrites = {
    ...(Object.fromEntries(writes) as Transactions),
    operate: createOperate<Tables>((perform) => commit.write(() => perform(tables))),
    saveDelivery: (delivery) =>
      commit.write(async () => {
        if (delivery.setup !== undefined && delivery.setup !== (await setupVersion.get()))
          throw describeStalePlan(delivery.id)
        return deliveries.save(delivery)
      }),
    saveSubjects: (batch) => commit.write(() => eventSearch.subjects.save(batch)),
    completeRun: (lease, output, now, handsOn = false) =>
      commit.write(() => end(lease, output, now, handsOn), limited.hasCall([lease])),
    claimRuns: (worker, limit, now) => commit.write(async () => started(await claims.claim(worker, limit, now), now)),
    claimSuspects: (worker, limit, now) => commit.write(() => claims.claimSuspects(worker, limit, now)),
    claimUnadmittedRuns: (worker, limit, now) => commit.write(() => claims.claimUnadmitted(worker, limit, now)),
    // A file gives no space back however its rows go, so it has no weeks.
    pruneWeek: async () => null,
    checkWritable: (now) => commit.write(() => writeProbe.run(now)),
  }
  return limited.watchAll(all)
}
