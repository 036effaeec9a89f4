import { randomInt } from 'node:crypto'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { describeStale, type Lease } from '../../core/runs/lease.ts'
import { GRANTED } from '../../core/safety/effect.ts'
import type { StoreWrites } from '../../core/store/store.ts'
import { LimitedRuns } from '../limited-runs.ts'
import { createOperate, TRANSACTIONS, type Transactions } from '../transactions.ts'
import { CallQueue, RunOrder } from './database/calls/call-queue.ts'
import { type ClaimKind, ClaimMarks, mayGiveBack } from './database/claim-marks.ts'
import type { Database } from './database/database.ts'
import { isPlainAdmission, type PlainAdmission, type PlainAnswer } from './gates/admission-calls.ts'
import { DeliveryQueue } from './incoming/delivery-queue.ts'
import { asPlainStep, type JournalAnswer, type PlainCall } from './runs/journal-queue.ts'
import { asPlainBegin, type BeginVerdict, type PlainBegin } from './safety/begin-writes.ts'
import type { Tables } from './tables.ts'
import { pruneWeek } from './upkeep/prune-week.ts'

/** Runs of paused workflows that one claim holds at most; the next claim goes on. */
const MAX_HELD = 500

/** Unlike the numbers of every other process, so that a call finds its own runs again only. */
let calls = randomInt(2 ** 47)
const nextCall = () => ++calls

/** Writes on which nobody acts are told of within this time, in milliseconds. */
const LATER_MS = 100

/** Writes after which no other process has anything to do. */
const UNHEARD: readonly (keyof StoreWrites)[] = [
  'beatProcess',
  'beatWorker',
  'claimBulk',
  'countRefusals',
  'saveLimit',
  'saveRunLog',
  'touchSession',
  'touchToken',
]

/** Writes under a lease. Those about one run take effect in the order of their calls. */
const LEASED: readonly (keyof Transactions)[] = [
  'admitRun',
  'beginEffects',
  'beginPart',
  'completeRun',
  'continueRun',
  'endPlanned',
  'failRun',
  'noteSeen',
  'parkRun',
  'postponeRun',
  'releaseRun',
  'reserveEffects',
  'saveCheckpoint',
  'saveProgress',
  'saveTags',
  'skipRun',
  'watchRun',
]

/** The write half of the store. `hint` is called after writes that others may wait for. */
export function createWriter(db: Database<Tables>, hint: () => void): StoreWrites {
  const order = new RunOrder()
  const marks = new ClaimMarks()
  const limited = new LimitedRuns(() => marks.drop())
  const freed = () => {
    marks.drop()
    hint()
  }
  const writes = {
    ...transactionWrites(db, hint, marks),
    ...claimWrites(db, limited, marks),
    operate: createOperate<Tables>(async (perform) => {
      const value = await db.write(perform)
      freed()
      return value
    }),
    // A search by subject reads bodies here: there is no index to fill.
    saveSubjects: async () => {},
    pruneWeek: createPruneWeek(db),
    checkWritable: (now: number) => db.probe((t) => t.writeProbe.run(now)),
  }
  const later = hintLater(hint)
  const forgetting = (['cancelRun', 'endWorker', 'stopWorker'] as const).map((name) => {
    return [name, limited.watch(name, writes[name] as (...args: unknown[]) => Promise<unknown>)]
  })
  const asked = { ...writes, ...askCalls(db, writes, freed) }
  const ordered = LEASED.map((name) => {
    const write = limited.watch(name, asked[name] as (...args: unknown[]) => Promise<unknown>)
    return [name, (lease: Lease, ...args: unknown[]) => order.perform(lease.runId, () => write(lease, ...args))]
  })
  const leased = Object.fromEntries(ordered) as Pick<StoreWrites, 'completeRun' | 'parkRun' | 'saveCheckpoint'>
  const journal = journalWrites(db, { order, limited, leased, freed, later })
  return {
    ...writes,
    ...Object.fromEntries(forgetting),
    ...leased,
    ...journal,
    ...deliveryWrites(db, { hint, later, marks }),
  }
}

function createPruneWeek(db: Database<Tables>): StoreWrites['pruneWeek'] {
  const weeks: Parameters<typeof pruneWeek>[0] = {
    read: (use) => db.read((t) => use(t.weeks)),
    once: (use) => db.once((t) => use(t.weeks)),
  }
  return (bounds, now) => pruneWeek(weeks, bounds, now)
}

/** Tells of what nobody acts on, so that lists which people look at are fresh. */
function hintLater(hint: () => void): () => void {
  let isOwed = false
  const pay = () => {
    isOwed = false
    hint()
  }
  return () => {
    if (!isOwed) setTimeout(pay, LATER_MS).unref()
    isOwed = true
  }
}

function transactionWrites(db: Database<Tables>, hint: () => void, marks: ClaimMarks): Transactions {
  const writes = Object.entries(TRANSACTIONS).map(([name, perform]) => {
    const isHeard = !UNHEARD.includes(name as keyof StoreWrites)
    const isLeased = LEASED.includes(name as keyof Transactions)
    const write = async (...args: unknown[]) => {
      const value = await db.write((tables, era) => {
        if (isLeased) requireEra(args[0] as Lease, era)
        return perform(tables, ...args)
      })
      if (isHeard && mayGiveBack(name as keyof StoreWrites, args, value)) marks.drop()
      if (isHeard) hint()
      return value
    }
    return [name, write]
  })
  return Object.fromEntries(writes)
}

/** After a failover, steps that a pass builds on may be lost: it begins again. */
function requireEra(lease: Lease, era: string): void {
  if (lease.era !== undefined && lease.era !== era) throw describeStale(lease)
}

/** Saves many deliveries in one call of the database. */
function deliveryWrites(
  db: Database<Tables>,
  { hint, later, marks }: { hint: () => void; later: () => void; marks: ClaimMarks },
): Pick<StoreWrites, 'saveDelivery'> {
  const queue = new DeliveryQueue(
    (stream, planned) => db.call(planned.length, (t) => t.arrivals.save(stream, planned)),
    db.waited('deliveries'),
  )
  return {
    async saveDelivery(delivery) {
      const receipt = await queue.save(delivery)
      const { workflows, priorities } = delivery
      // Runs that this process claimed at once wait for nobody.
      if (receipt.claimedWithEvent === undefined) {
        for (const [at, run] of receipt.runs.entries()) marks.noteMade(-(priorities?.[workflows[at] ?? ''] ?? 0), run)
        hint()
      } else later()
      return receipt
    },
  }
}

/** Admissions and effects that begin: many at once in a call, where no decision is needed. */
function askCalls(
  db: Database<Tables>,
  whole: Pick<StoreWrites, 'admitRun' | 'beginEffects'>,
  freed: () => void,
): Pick<StoreWrites, 'admitRun' | 'beginEffects'> {
  const admissions = new CallQueue<PlainAdmission, PlainAnswer>(
    (calls) => db.call(calls.length, (t) => t.admissionCalls.save(calls)),
    db.waited('steps'),
  )
  const begins = new CallQueue<PlainBegin, BeginVerdict>(
    (calls) => db.call(calls.length, (t) => t.writeBegins.save(calls)),
    db.waited('steps'),
  )
  return {
    async admitRun(lease, plan, now) {
      const isPlain = isPlainAdmission(plan, now)
      const answer = isPlain ? await admissions.add({ lease, plan, now, call: nextCall() }) : 'more'
      if (answer === 'stale') throw describeStale(lease)
      if (answer === 'more') return whole.admitRun(lease, plan, now)
      if (answer.verdict.kind !== 'admitted') freed()
      return answer
    },
    async beginEffects(lease, asks, options) {
      const plain = asPlainBegin(lease, asks, options)
      const verdict = plain === null ? 'more' : await begins.add(plain)
      if (verdict === 'stale') throw describeStale(lease)
      return verdict === 'more' ? whole.beginEffects(lease, asks, options) : [GRANTED]
    },
  }
}

interface JournalParts {
  order: RunOrder
  limited: LimitedRuns
  leased: Pick<StoreWrites, 'completeRun' | 'parkRun' | 'saveCheckpoint'>
  /** Tells that other runs may go on, also older ones. */
  freed: () => void
  later: () => void
}

/** The writes of each step and run: many at once in a call, where each has a plain commit. */
function journalWrites(
  db: Database<Tables>,
  { order, limited, leased, freed, later }: JournalParts,
): Pick<StoreWrites, 'completeRun' | 'parkRun' | 'saveCheckpoint'> {
  const openQueue = () =>
    new CallQueue<PlainCall, JournalAnswer>(
      (calls) => db.call(calls.length, (t) => t.journal.save(calls)),
      db.waited('steps'),
    )
  const queue = openQueue()
  // Others stand in line behind these runs, so that they wait for no long message of the rest.
  const first = openQueue()
  const save = async (call: PlainCall): Promise<JournalAnswer> => {
    const answer = await order.queue(call.lease.runId, () => (limited.has(call.lease) ? first : queue).add(call))
    if (answer.verdict === 'stale') throw describeStale(call.lease)
    return answer
  }
  return {
    async saveCheckpoint(lease, checkpoint, failure, saved) {
      const plain = asPlainStep(lease, checkpoint, failure, saved)
      if (plain === null) return leased.saveCheckpoint(lease, checkpoint, failure, saved)
      await save(plain)
      // A run that a step invokes is as old as the step's own.
      if (plain.send || plain.invoke) freed()
    },
    async parkRun(lease, park) {
      const { verdict } = await save({ lease, park, call: nextCall() })
      if (verdict === 'more') return leased.parkRun(lease, park)
      // The event or run that it awaits may have come already.
      if ((park.awaits ?? []).length > 0) freed()
      else later()
    },
    async completeRun(lease, output, now, handsOn = false) {
      if (typeof output !== 'string') return leased.completeRun(lease, output, now)
      const claim = handsOn ? nextCall() : null
      const { verdict, next } = await save({ lease, output, now, claim }).finally(() => limited.take(lease))
      if (verdict === 'more') return leased.completeRun(lease, output, now)
      if (next) limited.note([next])
      if (verdict === 'woke') freed()
      else later()
      return next
    },
  }
}

function claimWrites(
  db: Database<Tables>,
  limited: LimitedRuns,
  marks: ClaimMarks,
): Pick<StoreWrites, 'claimRuns' | 'claimSuspects' | 'claimUnadmittedRuns'> {
  const claim = async (asked: ClaimKind, worker: string, limit: number, now: number): Promise<ClaimedRun[]> => {
    const number = nextCall()
    const kind = marks.kindOf(asked)
    for (let held = 0; held < MAX_HELD; ) {
      const start = marks.next(kind, now)
      const claimed = await db.call(1, (t) => t.claims.claim(kind, worker, { limit, now, number, start }))
      if (claimed !== null) {
        marks.note(kind, start, { passed: claimed.passed, limit })
        return limited.note(claimed.runs)
      }
      const more = await db.write((t) => t.claims.hold(kind, worker, { limit, now, start }))
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
