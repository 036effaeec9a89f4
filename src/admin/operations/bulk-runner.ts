import { describeError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Publish } from '../../core/notices.ts'
import { findObstacle, type Run } from '../../core/runs/run.ts'
import { planReset } from '../../core/runs/step.ts'
import { BULK_SLICE, type BulkCount, type BulkOperation, decidePause } from '../../core/safety/bulk.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, waitUntil } from '../../core/time.ts'

/** How often a process looks for an operation that nobody works on. */
const POLL_MS = 5_000
/** Rows that one read looks at. */
const ROWS = 5_000
/** Ids that a count keeps. */
const MAX_FIRST = 10

interface BulkRunnerParts {
  store: Pick<Store, 'claimBulk' | 'countBulk' | 'performBulk' | 'findBulk' | 'searchRuns' | 'listSteps'>
  clock: Clock
  publish: Publish
  /** Hears of each slice. */
  onProgress: (operation: BulkOperation) => void
}

/**
 * Works on operations on many runs, one at a time, in slices of 100. Another process goes on where
 * this one died: all that counts is in the store.
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

  /** Looks for work now. */
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
  async #count({ id, cursor, filter, kind, isDryRun, count }: BulkOperation): Promise<BulkOperation | null> {
    const { store, clock } = this.#parts
    const part = await store.searchRuns(filter, { rows: ROWS, limit: ROWS, after: cursor })
    const now = clock.now()
    const fitting = part.items.filter((run) => findObstacle(kind, run, now) === null)
    const next: BulkCount = {
      ...count,
      total: count.total + fitting.length,
      first: [...count.first, ...fitting.map((run) => run.id)].slice(0, MAX_FIRST),
    }
    if (isDryRun && kind === 'retry') await this.#countEffects(fitting, next)
    const slice = { id, owner: this.#owner, after: cursor, next: part.next }
    return this.#report(await store.countBulk(slice, next, now))
  }

  /** Adds the steps that a retry would repeat. */
  async #countEffects(runs: readonly Run[], count: BulkCount): Promise<void> {
    for (const run of runs) {
      const steps = await this.#parts.store.listSteps(run.id, 0)
      const repeated = new Set(planReset(steps, run.error))
      for (const { key, effect } of steps) {
        if (repeated.has(key) && effect === 'write') count.writes += 1
        if (repeated.has(key) && effect === 'delete') count.deletes += 1
      }
    }
  }

  async #runSlice({ id, cursor, filter, kind, perSecond }: BulkOperation): Promise<BulkOperation | null> {
    const { store, clock } = this.#parts
    const part = await store.searchRuns(filter, { rows: ROWS, limit: BULK_SLICE, after: cursor })
    const slice = { id, owner: this.#owner, after: cursor, next: part.next, runs: part.items.map((run) => run.id) }
    const progress = await store.performBulk(slice, clock.now())
    if (progress === null) return null
    const operation = this.#report(await store.findBulk(id))
    if (progress.isOver) return null
    const pause = decidePause({ kind, perSecond }, slice.runs.length)
    await waitUntil(clock, clock.now() + pause, this.#stopped.signal)
    return operation
  }

  #report(operation: BulkOperation | null): BulkOperation | null {
    if (operation !== null) this.#parts.onProgress(operation)
    return operation
  }
}
