import { describeError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import { PRUNE_KINDS, type PruneKind, type Retention } from '../core/store/retention.ts'
import type { Store } from '../core/store/store.ts'
import { type Clock, waitUntil } from '../core/time.ts'

/** Rows of a slice: at first, at least, at most. */
const FIRST_ROWS = 200
const MIN_ROWS = 20
const MAX_ROWS = 2_000
/**
 * A slice is to take about this long, so that a delivery that has to wait for one does not notice.
 */
const SLICE_MS = 8
/** Between two slices ingest has the store to itself for as many times what the last one took. */
const REST_FACTOR = 3

const FIRST_AFTER_MS = 60_000
const EVERY_MS = 3_600_000

/** What was removed, by kind. */
export type PruneCounts = Record<PruneKind, number>

export interface PruneParts {
  store: Pick<Store, 'prune'>
  clock: Clock
  /** How old each kind may get. */
  retention: Retention
  /** Ends it between two slices. */
  signal?: AbortSignal
  /** Told after each slice, with the sum so far. */
  onSlice?: (counts: PruneCounts) => void
}

/**
 * Removes all that is older than its bound, in slices that get smaller where they take long. Gives
 * what it removed.
 */
export async function pruneStore({ store, clock, retention, signal, onSlice }: PruneParts): Promise<PruneCounts> {
  const counts: PruneCounts = { runs: 0, failures: 0, refusals: 0, deliveries: 0, payloads: 0 }
  let rows = FIRST_ROWS
  for (const kind of PRUNE_KINDS) {
    const ageMs = retention[kind]
    if (ageMs === null) continue
    const before = clock.now() - ageMs
    for (let after: string | null = null; ; ) {
      signal?.throwIfAborted()
      const startedAt = clock.now()
      const { pruned, next } = await store.prune({ kind, before, limit: rows, after })
      const tookMs = Math.max(0, clock.now() - startedAt)
      counts[kind] += pruned
      onSlice?.(counts)
      if (next === null) break
      after = next
      rows = computeSliceRows(rows, tookMs)
      if (tookMs > 0) await waitUntil(clock, clock.now() + tookMs * REST_FACTOR, signal)
    }
  }
  return counts
}

/** Rows of the next slice, from how long one of `rows` took: quickly fewer, slowly more. */
export function computeSliceRows(rows: number, tookMs: number): number {
  const fitting = tookMs > SLICE_MS ? Math.floor((rows * SLICE_MS) / tookMs) : Math.ceil(rows * 1.25)
  return Math.min(MAX_ROWS, Math.max(MIN_ROWS, fitting))
}

/** Prunes a minute after the start and every hour from then on. */
export class Pruner {
  readonly #parts: Omit<PruneParts, 'signal' | 'onSlice'> & { publish: Publish }
  readonly #abort = new AbortController()
  #loop: Promise<void> | null = null

  constructor(parts: Omit<PruneParts, 'signal' | 'onSlice'> & { publish: Publish }) {
    this.#parts = parts
  }

  start(): void {
    this.#loop ??= this.#run().catch(() => {})
  }

  /** Resolves when nothing more will be written. */
  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts
    const { signal } = this.#abort
    await waitUntil(clock, clock.now() + FIRST_AFTER_MS, signal)
    for (;;) {
      await this.#sweep(signal)
      await waitUntil(clock, clock.now() + EVERY_MS, signal)
    }
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const { clock, publish } = this.#parts
    const startedAt = clock.now()
    try {
      const { runs, failures, refusals, deliveries, payloads } = await pruneStore({ ...this.#parts, signal })
      const removed = { runs: runs + failures, deliveries: refusals + deliveries, payloads }
      if (Object.values(removed).some((count) => count > 0)) {
        publish({ kind: 'store.pruned', ...removed, ms: clock.now() - startedAt })
      }
    } catch (error) {
      if (!signal.aborted) publish({ kind: 'fault', where: 'pruning the store', error: describeError(error) })
    }
  }
}
