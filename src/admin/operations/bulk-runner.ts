import { describeError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Publish } from '../../core/notices.ts'
import { type BulkCount, type BulkOperation, decidePause, decideSlice } from '../../core/safety/bulk.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, waitUntil } from '../../core/time.ts'
import { readTargets } from './read-targets.ts'

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

  start(): void {
    this.wake()
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
