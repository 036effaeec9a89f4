import { describeError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import { planRuns } from '../../core/incoming/route.ts'
import type { Publish } from '../../core/notices.ts'
import { findObstacle, type Run } from '../../core/runs/run.ts'
import {
  type BulkCount,
  type BulkOperation,
  type BulkPlan,
  decidePause,
  decideSlice,
  findReplayObstacle,
  narrowFilter,
} from '../../core/safety/bulk.ts'
import type { SearchSlice } from '../../core/store/search.ts'
import type { ReadStore, Store } from '../../core/store/store.ts'
import { type Clock, waitUntil } from '../../core/time.ts'

/** How often a process looks for an operation that nobody works on. */
const POLL_MS = 5_000
/** Rows that one read looks at. */
const ROWS = 5_000
/** Ids that a count keeps. */
export const MAX_FIRST = 10

/** The part of the store that works on operations. */
type BulkStore = Pick<Store, 'claimBulk' | 'countBulk' | 'performBulk' | 'findBulk' | 'searchRuns' | 'walkEvents'>

interface BulkRunnerParts {
  store: BulkStore
  clock: Clock
  publish: Publish
}

/**
 * Works on operations on many runs or events, one at a time, in slices of 100 at most. Another
 * process goes on where this one died: all that counts is in the store.
 */
export class BulkRunner {
  readonly #parts: BulkRunnerParts
  readonly #owner = randomWord()
  readonly #stopped = new AbortController()
  #working: Promise<void> = Promise.resolve()
  #cancelPoll = () => {}

  constructor(parts: BulkRunnerParts) {
    this.#parts = parts
  }

  wake(): void {
    this.#cancelPoll()
    this.#working = this.#working.then(() => this.#work())
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#cancelPoll()
    await this.#working
  }

  async #work(): Promise<void> {
    const { store, clock, publish } = this.#parts
    try {
      while (!this.#stopped.signal.aborted) {
        const operation = await store.claimBulk(this.#owner, clock.now())
        if (operation === null) break
        await this.#perform(operation)
      }
    } catch (error) {
      const isStop = this.#stopped.signal.aborted
      if (!isStop) publish({ kind: 'fault', where: 'an operation on many runs', error: describeError(error) })
    }
    if (this.#stopped.signal.aborted) return
    this.#cancelPoll()
    this.#cancelPoll = clock.at(clock.now() + POLL_MS, () => this.wake())
  }

  async #perform(claimed: BulkOperation): Promise<void> {
    let operation: BulkOperation | null = claimed
    while (operation !== null && !this.#stopped.signal.aborted) {
      if (operation.status === 'counting') operation = await this.#count(operation)
      else if (operation.status === 'running') operation = await this.#runSlice(operation)
      else return
    }
  }

  /** Counts one slice; null when the operation is over or somebody else's. */
  async #count(operation: BulkOperation): Promise<BulkOperation | null> {
    const { store, clock } = this.#parts
    const { id, cursor, count } = operation
    const now = clock.now()
    const part = await readTargets(store, operation, { rows: ROWS, limit: ROWS, after: cursor }, now)
    const fitting = part.targets.filter(({ why }) => why === null)
    const next: BulkCount = {
      ...count,
      total: count.total + fitting.length,
      runs: count.runs + fitting.reduce((sum, { workflows }) => sum + workflows.length, 0),
      first: [...count.first, ...fitting.map((target) => target.id)].slice(0, MAX_FIRST),
    }
    const slice = { id, owner: this.#owner, after: cursor, next: part.next }
    return store.countBulk(slice, next, now)
  }

  async #runSlice(operation: BulkOperation): Promise<BulkOperation | null> {
    const { store, clock } = this.#parts
    const { id, cursor } = operation
    const read = { rows: ROWS, limit: decideSlice(operation), after: cursor }
    const part = await readTargets(store, operation, read, clock.now())
    const targets = part.targets.map(({ target }) => target)
    const slice = { id, owner: this.#owner, after: cursor, next: part.next, targets }
    const progress = await store.performBulk(slice, clock.now())
    if (progress === null || progress.isOver) return null
    const after = await store.findBulk(id)
    await waitUntil(clock, clock.now() + decidePause(operation, targets.length), this.#stopped.signal)
    return after
  }
}

/** A run or an event of an operation. */
export interface Target {
  id: string
  /** As `performBulk` takes it. */
  target: string
  /** Why the operation does not fit it; null: it does. */
  why: string | null
  /** Workflows of which it makes new runs. */
  workflows: string[]
  of: Run | EventRecord
}

export interface TargetPart {
  targets: Target[]
  /** Position of the next slice; null: nothing is left. */
  next: string | null
}

/** One slice of what an operation is about, in its order: the newest runs, or the oldest events. */
export async function readTargets(
  store: Pick<ReadStore, 'searchRuns' | 'walkEvents'>,
  plan: BulkPlan,
  slice: SearchSlice,
  now: number,
): Promise<TargetPart> {
  if (plan.kind === 'replay') {
    const { items, next } = await store.walkEvents(plan.filter, slice)
    const targets = items.flatMap((event): Target[] => {
      const workflows = planRuns(event.type, plan.routes)
      const { id, seq } = event
      if (workflows.length === 0) return []
      return [{ id, target: String(seq), why: findReplayObstacle(event), workflows, of: event }]
    })
    return { targets, next }
  }
  const { items, next } = await store.searchRuns(narrowFilter(plan), slice)
  const targets = items.map((run): Target => {
    return { id: run.id, target: run.id, why: findObstacle(plan.kind, run, now), workflows: [], of: run }
  })
  return { targets, next }
}
