import type { StoreWrites } from '../../core/store/store.ts'
import { describeStalePlan } from '../rows/runs/describe-stale.ts'
import { createOperate, TRANSACTIONS, type Transactions } from '../transactions.ts'
import type { GroupCommit } from './database/group-commit.ts'
import type { Tables } from './tables.ts'

/** The write half of the store: each write is a part of a group commit. */
export function createWriter(tables: Tables, commit: Pick<GroupCommit, 'write'>): StoreWrites {
  const { claims, deliveries, eventSearch, gates, setup, writeProbe } = tables
  const writes = Object.entries(TRANSACTIONS).map(([name, transaction]) => {
    const perform = transaction as (tables: Tables, ...args: unknown[]) => Promise<unknown>
    return [name, (...args: unknown[]) => commit.write(() => perform(tables, ...args))]
  })
  return {
    ...(Object.fromEntries(writes) as Pick<StoreWrites, keyof Transactions>),
    operate: createOperate<Tables>((perform) => commit.write(() => perform(tables))),
    saveDelivery: (delivery) =>
      commit.write(() => {
        if (delivery.setup !== undefined && delivery.setup !== setup.version()) throw describeStalePlan(delivery.id)
        return deliveries.save(delivery)
      }),
    saveSubjects: (batch) => commit.write(() => eventSearch.subjects.save(batch)),
    claimRuns: (worker, limit, now) =>
      commit.write(async () => {
        const claimed = await claims.claim(worker, limit, now)
        for (const run of claimed) if (run.isAdmitted) await gates.start(run.lease.runId, now)
        return claimed
      }),
    claimSuspects: (worker, limit, now) => commit.write(() => claims.claimSuspects(worker, limit, now)),
    claimUnadmittedRuns: (worker, limit, now) => commit.write(() => claims.claimUnadmitted(worker, limit, now)),
    // A file gives no space back however its rows go, so it has no weeks.
    pruneWeek: async () => null,
    checkWritable: (now) => commit.write(() => writeProbe.run(now)),
  }
}
