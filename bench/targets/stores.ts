import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { newId } from '../../src/core/ids.ts'
import { type AdmissionPlan, type Gate, UNADMITTED_PRIORITY } from '../../src/core/runs/admission.ts'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Checkpoint } from '../../src/core/runs/step.ts'
import { KEEP_ALL } from '../../src/core/store/retention.ts'
import type { Store } from '../../src/core/store/store.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import { openStore, type StorePlace } from '../processes/open-store.ts'
import { threeSteps } from '../workflows/three-steps.ts'

/** Drives either store through its port, with the calls that a belt makes. */
const BODY_BYTES = 1_000
const STEPS = 3
/** Deliveries and runs that are under way at once. */
const AT_ONCE = 50
const HOUR_MS = 3_600_000

let store: Store
const worker = newId('wrk', Date.now())

async function open(place: StorePlace): Promise<void> {
  store = await openStore(place)
  // As in production, where the tables of PostgreSQL have a partition for each week.
  await pruneWeek({ at: Date.now(), runs: null })
  await store.startWorker(worker, Date.now())
}

function step(position: number, now: number): Checkpoint {
  return {
    key: `step-${position}`,
    position,
    kind: 'run',
    effect: 'read',
    status: 'completed',
    attempt: 1,
    output: `{"ok":true,"n":${position}}`,
    error: null,
    target: null,
    startedAt: now,
    finishedAt: now,
    dueAt: null,
  }
}

/** Saves an event with one run, and gives its lease where that was claimed in the same commit. */
async function deliver(
  account: string,
  arrivalClaim = true,
  priority = 0,
): Promise<{ event: string; lease: Lease | null }> {
  const now = Date.now()
  const event = { id: `evt_${randomUUID()}`, type: 'file.created', created: '2026-01-05T09:31:13.000Z' }
  const receipt = await store.saveDelivery({
    id: newId('dlv', now),
    endpointId: 'end_bench',
    account,
    receivedAt: now,
    event,
    facts: {},
    body: JSON.stringify(event).padEnd(BODY_BYTES),
    workflows: [threeSteps.id],
    priorities: { [threeSteps.id]: priority },
    ...(arrivalClaim ? { arrivalClaim: { worker, codeHashes: {} } } : {}),
  })
  const [runId = ''] = receipt.runs
  return { event: event.id, lease: receipt.claimedWithEvent === undefined ? null : { runId, fence: 1, worker } }
}

/** The steps of a run, one after the other but without waiting, as the engine saves reads. */
async function execute(lease: Lease): Promise<void> {
  const now = Date.now()
  const saved = Array.from({ length: STEPS }, (_, n) => store.saveCheckpoint(lease, step(n, now)))
  await Promise.all([...saved, store.completeRun(lease, '{"ok":true}', now)])
}

interface BeltFigures {
  eventsPerSecond: number
  cpuMicrosPerEvent: number
}

interface BeltOrder {
  account: string
  seconds: number
  /** Deliveries that are under way at once. */
  atOnce?: number
}

/** Events from their delivery to the end of their run, all of them through. */
async function belt({ account, seconds, atOnce = AT_ONCE }: BeltOrder): Promise<BeltFigures> {
  const cpuBefore = process.cpuUsage()
  const begunAt = performance.now()
  let done = 0
  const isOver = () => performance.now() - begunAt > seconds * 1_000
  const produce = async () => {
    while (!isOver()) {
      const { lease } = await deliver(account)
      if (lease === null) continue
      await execute(lease)
      done += 1
    }
  }
  let isProducing = true
  const claim = async () => {
    while (isProducing) {
      const claimed = await store.claimRuns(worker, AT_ONCE, Date.now())
      await Promise.all(claimed.map(({ lease }) => execute(lease)))
      done += claimed.length
      if (claimed.length === 0) await wait(50)
    }
  }
  const claiming = claim()
  await Promise.all(Array.from({ length: atOnce }, produce))
  isProducing = false
  await claiming
  const { user, system } = process.cpuUsage(cpuBefore)
  return { eventsPerSecond: done / ((performance.now() - begunAt) / 1_000), cpuMicrosPerEvent: (user + system) / done }
}

/** Runs that each key of a gate admits at once. */
const MOST = 2

/** Admits what the gates of `keys` admit, for any worker to claim, and leaves the rest in line. */
async function queueAtGates({ keys, each }: { keys: number; each: number }): Promise<void> {
  const made = Array.from({ length: keys * each }, () => deliver('default', false, UNADMITTED_PRIORITY))
  await Promise.all(made)
  let asked = 0
  while (asked < keys * each) {
    // Not those that are admitted already.
    const claimed = await store.claimUnadmittedRuns(worker, AT_ONCE, Date.now())
    await Promise.all(
      claimed.map(async ({ lease }, index) => {
        const gate: Gate = { name: 'concurrency-1', key: `key-${(asked + index) % keys}`, most: MOST, perMs: null }
        const { verdict } = await store.admitRun(lease, planOf(gate), Date.now())
        if (verdict.kind === 'admitted') await store.releaseRun(lease)
      }),
    )
    asked += claimed.length
  }
}

function planOf(gate: Gate): AdmissionPlan {
  const open = { priority: 0, hasStarted: false, startBy: null, wakeAt: null, mayStart: true, fold: null }
  return { ...open, onConflict: 'skip', gates: [gate] }
}

/** Ends limited runs together; each lets the next of its key in. Gives their number. */
async function endAtGates({ atOnce }: { atOnce: number }): Promise<number> {
  let ended = 0
  for (;;) {
    const claimed = await store.claimRuns(worker, atOnce, Date.now())
    await Promise.all(claimed.map(({ lease }) => store.completeRun(lease, 'null', Date.now())))
    ended += claimed.length
    if (claimed.length > 0) continue
    const { pending, running, waiting } = await store.countOpenRuns(Date.now())
    if (pending + running + waiting === 0) return ended
    await wait(5)
  }
}

/**
 * Executes so many pending runs, or all, and gives their number. Unmarked, each claim comes a
 * second after the last one, by which its marks have ended.
 */
async function drain({ isMarked, runs }: { isMarked: boolean; runs: number | null }): Promise<number> {
  let now = Date.now()
  for (let ended = 0; ; ) {
    now = isMarked ? Date.now() : now + 1_000
    const claimed = await store.claimRuns(worker, AT_ONCE, now)
    if (claimed.length === 0) return ended
    await Promise.all(claimed.map(({ lease }) => execute(lease)))
    ended += claimed.length
    if (runs !== null && ended >= runs) return ended
  }
}

/** Ids of the events that were acknowledged, in the given time. */
async function deliverFor({ seconds }: { seconds: number }): Promise<string[]> {
  const begunAt = performance.now()
  const acknowledged: string[] = []
  const send = async () => {
    while (performance.now() - begunAt < seconds * 1_000) {
      try {
        acknowledged.push((await deliver('default', false)).event)
      } catch {
        // Answered with 503: its sender repeats it.
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  return acknowledged
}

/** Claims runs for this process's worker, which ends with it. */
async function hold({ runs }: { runs: number }): Promise<number> {
  await Promise.all(Array.from({ length: runs }, () => deliver('default', false)))
  return (await store.claimRuns(worker, runs, Date.now())).length
}

/** Microseconds of one claim; the claimed runs are released. */
async function claimOnce({ limit }: { limit: number }): Promise<number> {
  const begunAt = performance.now()
  const claimed = await store.claimRuns(worker, limit, Date.now())
  const micros = (performance.now() - begunAt) * 1_000
  if (claimed.length !== limit) throw new Error(`claimed ${claimed.length} runs instead of ${limit}`)
  await Promise.all(claimed.map(({ lease }) => store.releaseRun(lease)))
  return micros
}

/** Rows of one timed call. */
const ROWS = { ingest: 500, claim: 50, list: 50, search: 5_000, prune: 200 }
const NOWHERE = { words: ['nowhere'] }
let prunedTo: string | null = null

const TIMED = {
  async ingest() {
    for (let sent = 0; sent < ROWS.ingest; sent += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => deliver('default', false)))
  },
  claim: () => claimOnce({ limit: ROWS.claim }),
  async list() {
    const slice = { rows: ROWS.search, limit: ROWS.list, after: null }
    for (const status of ['completed', 'waiting', 'failed'] as const) await store.searchRuns({ status }, slice)
  },
  async search() {
    await store.searchEvents(NOWHERE, { rows: ROWS.search, limit: ROWS.list, after: null })
  },
  async prune() {
    const before = Date.now() - HOUR_MS
    const slice = { kind: 'deliveries', before, limit: ROWS.prune, after: prunedTo } as const
    const { pruned, next } = await store.prune(slice)
    if (pruned === 0) throw new Error('no delivery was old enough to go')
    prunedTo = next
  },
}

/** Milliseconds of one of these calls. */
async function timeCall({ call }: { call: keyof typeof TIMED }): Promise<number> {
  const begunAt = performance.now()
  await TIMED[call]()
  return performance.now() - begunAt
}

/** Makes the next weeks, and removes one that is over. */
async function pruneWeek({ at, runs }: { at: number; runs: number | null }): Promise<void> {
  const pruned = await store.pruneWeek({ ...KEEP_ALL, runs }, at)
  if (runs !== null && pruned === null) throw new Error('no week was removed')
}

answerCalls({ open, belt, queueAtGates, endAtGates, drain, deliverFor, hold, claimOnce, timeCall, pruneWeek })
