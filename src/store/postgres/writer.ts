import { randomInt } from 'node:crypto'
import { UpshotError } from '../../core/errors.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Lease } from '../../core/runs/lease.ts'
import type { AuditWrites } from '../../core/store/safety/audit.ts'
import type { StoreWrites } from '../../core/store/store.ts'
import { describeStale } from '../rows/describe-stale.ts'
import { CallQueue } from './database/call-queue.ts'
import type { Database } from './database/database.ts'
import { RunOrder } from './database/run-order.ts'
import { DeliveryQueue } from './incoming/delivery-queue.ts'
import type { ClaimKind } from './runs/claims.ts'
import { asPlainStep, type EndVerdict, type PlainEnd, type PlainStep } from './runs/journal-queue.ts'
import type { Tables } from './tables.ts'
import { TRANSACTIONS } from './transactions.ts'

/** Runs of paused workflows that one claim holds at most; the next claim goes on. */
const MAX_HELD = 500

/** Writes after which no other process has anything to do. */
const UNHEARD: readonly (keyof StoreWrites)[] = [
  'beatProcess',
  'beatWorker',
  'checkWritable',
  'claimBulk',
  'countRefusals',
  'saveLimit',
  'saveRunLog',
  'touchSession',
  'touchToken',
]

/** Writes under a lease. Those about one run take effect in the order of their calls. */
const LEASED: readonly (keyof StoreWrites)[] = [
  'admitRun',
  'beginEffects',
  'completeRun',
  'continueRun',
  'failRun',
  'parkRun',
  'postponeRun',
  'releaseRun',
  'saveCheckpoint',
  'skipRun',
  'watchRun',
]

/** The write half of the store. `hint` is called after writes that others may wait for. */
export function createWriter(db: Database<Tables>, hint: () => void): StoreWrites {
  const order = new RunOrder()
  const writes = {
    ...transactionWrites(db, hint),
    ...hotWrites(db, hint),
    ...claimWrites(db),
    operate: createOperate(db, hint),
  }
  const ordered = LEASED.map((name) => {
    const write = writes[name] as (lease: Lease, ...args: unknown[]) => Promise<unknown>
    return [name, (lease: Lease, ...args: unknown[]) => order.perform(lease.runId, () => write(lease, ...args))]
  })
  return { ...writes, ...Object.fromEntries(ordered) }
}

type Transactions = Omit<
  StoreWrites,
  'claimRuns' | 'claimSuspects' | 'claimUnadmittedRuns' | 'operate' | 'saveDelivery'
>

function transactionWrites(db: Database<Tables>, hint: () => void): Transactions {
  const writes = Object.entries(TRANSACTIONS).map(([name, transaction]) => {
    const perform = transaction as (tables: Tables, ...args: unknown[]) => Promise<unknown>
    const isHeard = !UNHEARD.includes(name as keyof StoreWrites)
    const write = async (...args: unknown[]) => {
      const value = await db.write((tables) => perform(tables, ...args))
      if (isHeard) hint()
      return value
    }
    return [name, write]
  })
  return Object.fromEntries(writes)
}

/** The writes of each delivery, step and run: many at once in one call of the database. */
function hotWrites(
  db: Database<Tables>,
  hint: () => void,
): Pick<StoreWrites, 'completeRun' | 'saveCheckpoint' | 'saveDelivery'> {
  const deliveries = new DeliveryQueue((stream, planned) =>
    db.call(planned.length, (t) => t.arrivals.save(stream, planned)),
  )
  const steps = new CallQueue<PlainStep, boolean>((calls) => db.call(calls.length, (t) => t.journal.saveSteps(calls)))
  const ends = new CallQueue<PlainEnd, EndVerdict>((calls) =>
    db.call(calls.length, (t) => t.journal.completeRuns(calls)),
  )
  return {
    async saveDelivery(delivery) {
      const receipt = await deliveries.save(delivery)
      hint()
      return receipt
    },
    async saveCheckpoint(lease, checkpoint, failure, saved) {
      const plain = asPlainStep(lease, checkpoint, failure, saved)
      if (plain === null) {
        await db.write((t) => TRANSACTIONS.saveCheckpoint(t, lease, checkpoint, failure, saved))
        hint()
      } else if (!(await steps.add(plain))) throw describeStale(lease)
    },
    async completeRun(lease, output, now) {
      const verdict = typeof output === 'string' ? await ends.add({ lease, output, now }) : 'more'
      if (verdict === 'stale') throw describeStale(lease)
      if (verdict === 'more') await db.write((t) => TRANSACTIONS.completeRun(t, lease, output, now))
      hint()
    },
  }
}

function claimWrites(db: Database<Tables>): Pick<StoreWrites, 'claimRuns' | 'claimSuspects' | 'claimUnadmittedRuns'> {
  // Unlike the numbers of every other process, so that a claim finds its own runs again only.
  let claims = randomInt(2 ** 47)
  const claim = async (kind: ClaimKind, worker: string, limit: number, now: number): Promise<ClaimedRun[]> => {
    claims += 1
    const number = claims
    for (let held = 0; held < MAX_HELD; ) {
      const claimed = await db.call(1, (t) => t.claims.claim(kind, worker, { limit, now, number }))
      if (claimed !== null) return claimed
      const more = await db.write((t) => t.claims.hold(kind, worker, { limit, now, gates: t.gates }))
      held += Math.max(more, 1)
    }
    return []
  }
  return {
    claimRuns: (worker, limit, now) => claim('any', worker, limit, now),
    claimSuspects: (worker, limit, now) => claim('suspect', worker, limit, now),
    claimUnadmittedRuns: (worker, limit, now) => claim('unadmitted', worker, limit, now),
  }
}

/** The writes of operators, each with its audit row in the same commit. */
function createOperate(db: Database<Tables>, hint: () => void): AuditWrites['operate'] {
  return async (entry, { write, args }) => {
    const perform = TRANSACTIONS[write] as (tables: Tables, ...args: readonly unknown[]) => Promise<unknown>
    try {
      const value = await db.write(async (tables) => {
        const written = await perform(tables, ...args)
        await tables.audits.add(entry, written === false || written === null ? 'unchanged' : 'done')
        return written
      })
      hint()
      return value as never
    } catch (error) {
      // The refused write changed nothing, so that its row is a commit of its own.
      if (error instanceof UpshotError && error.code !== 'store_unavailable')
        await db.write((tables) => tables.audits.add(entry, 'refused', error.message))
      throw error
    }
  }
}
