import { describeError, UpshotError } from '../core/errors.ts'
import { firstId, readIdTime } from '../core/ids.ts'
import { planForgetting } from '../core/incoming/endpoint.ts'
import type { Publish } from '../core/notices.ts'
import { DONE_KEPT_MS } from '../core/runs/schedule.ts'
import {
  boundsAt,
  MAX_COUNTED,
  PRUNE_KINDS,
  type Prunable,
  type PrunedWeek,
  type PruneKind,
  type Retention,
} from '../core/store/retention.ts'
import type { Store } from '../core/store/store.ts'
import { type Clock, Loop, pause } from '../core/time.ts'

/**
 * Rows of a slice: the minimum, with which it begins, and the maximum. The fewest take SQLite 2 ms.
 * To PostgreSQL they take as many messages as the most.
 */
const MIN_ROWS = 400
const MAX_ROWS = 2_000
/** Target duration of a slice: a delivery may have to wait for one. */
const SLICE_MS = 8
/** The pause after a slice, as a multiple of its duration. */
const REST_FACTOR = 3
/** The longest such pause: the clock may be set forward during a slice. */
const MAX_REST_MS = 60_000

const FIRST_AFTER_MS = 60_000
const EVERY_MS = 3_600_000
/** The most that grows old from one round to the next: a clock may be wrong for a while. */
const MAX_AGED_MS = 86_400_000

type PruneCounts = Record<PruneKind, number>

interface PruneParts {
  store: Pick<Store, 'findUnmatchedSince' | 'prune' | 'pruneWeek'>
  clock: Clock
  /** Maximum age of each kind in milliseconds; null: for ever. */
  retention: Retention
  /** The moment from which ages are counted. Default now. */
  from?: number
  /** Aborts between two slices. */
  signal?: AbortSignal
  /** Gets the number of all rows that were removed so far. */
  onPruned?: (rows: number) => void
}

/**
 * Removes everything older than its retention, in slices whose size adapts to their duration.
 * Rejects when `signal` aborts. See decision 17.
 */
export async function pruneStore(parts: PruneParts): Promise<PruneCounts> {
  const { store, clock, from = clock.now(), signal, onPruned = () => {} } = parts
  const retention = await keepUnmatched(parts, from)
  const counts = Object.fromEntries(PRUNE_KINDS.map((kind) => [kind, 0])) as PruneCounts
  const add = (pruned: PrunedWeek) => {
    for (const kind of PRUNE_KINDS) counts[kind] += pruned[kind] ?? 0
    onPruned(Object.values(counts).reduce((sum, count) => sum + count, 0))
  }
  await pruneWeeks({ ...parts, retention, from }, add)
  let rows = MIN_ROWS
  for (const kind of PRUNE_KINDS) {
    const ageMs = retention[kind]
    if (ageMs === null) continue
    const before = from - ageMs
    for (let after: string | null = null; ; ) {
      signal?.throwIfAborted()
      const startedAt = clock.now()
      const { pruned, next } = await store.prune({ kind, before, now: startedAt, limit: rows, after })
      const tookMs = Math.max(0, clock.now() - startedAt)
      add({ [kind]: pruned })
      if (next === null) break
      after = next
      rows = computeSliceRows(rows, tookMs)
      if (tookMs > 0) await pause(clock, Math.min(tookMs * REST_FACTOR, MAX_REST_MS), signal)
    }
  }
  return counts
}

interface UnmatchedParts extends Pick<PruneParts, 'retention'> {
  store: Pick<Store, 'findUnmatchedSince'>
}

/** A run may wait for an event that no worker has looked at: its body stays, however old it is. */
async function keepUnmatched({ store, retention }: UnmatchedParts, from: number): Promise<Retention> {
  const since = retention.payloads === null ? null : await store.findUnmatchedSince()
  return since === null ? retention : { ...retention, payloads: Math.max(retention.payloads ?? 0, from - since) }
}

/** Removes whole weeks, one at a time. */
async function pruneWeeks(
  { store, clock, retention, from, signal }: PruneParts & { from: number },
  onWeek: (pruned: PrunedWeek) => void,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const pruned = await store.pruneWeek(boundsAt(retention, from), clock.now())
    if (pruned === null) return
    onWeek(pruned)
  }
}

/** Rows of the next slice after one of `rows` took `tookMs`: shrinks to fit, grows by a quarter. */
export function computeSliceRows(rows: number, tookMs: number): number {
  const fitting = tookMs > SLICE_MS ? Math.floor((rows * SLICE_MS) / tookMs) : Math.ceil(rows * 1.25)
  return Math.min(MAX_ROWS, Math.max(MIN_ROWS, fitting))
}

interface PrunerParts extends Omit<PruneParts, 'store' | 'from' | 'signal' | 'onPruned'> {
  store: Pick<
    Store,
    | 'findUnmatchedSince'
    | 'prune'
    | 'pruneWeek'
    | 'pruneSchedules'
    | 'listEndpoints'
    | 'updateEndpoint'
    | 'listRuns'
    | 'listDeliveries'
  >
  publish: Publish
}

/**
 * Prunes a minute after the start, then an hour after each end. A clock that is ahead by a year
 * costs a day of history a round, until it is right again. So do weeks without a process.
 */
export class Pruner extends Loop {
  readonly #parts: PrunerParts
  readonly #madeAt: number
  /** The newest moment that proved right: a round counts ages from a day later at most. */
  #newest: number | null = null

  constructor(parts: PrunerParts) {
    super(parts.clock, { everyMs: EVERY_MS, firstMs: FIRST_AFTER_MS })
    this.#parts = parts
    this.#madeAt = parts.clock.now()
  }

  protected async round(): Promise<undefined> {
    const { store, clock, publish } = this.#parts
    const { signal } = this
    const startedAt = clock.now()
    const newest = this.#newest ?? (await this.#findNewest())
    const from = Math.min(startedAt, newest + MAX_AGED_MS)
    // A clock that is decades behind at the start of a machine is soon set right.
    this.#newest = Math.max(newest, from)
    await forgetSecrets(store, from)
    while ((await store.pruneSchedules(from - DONE_KEPT_MS, MIN_ROWS)) === MIN_ROWS) signal.throwIfAborted()
    const { runs, failures, refusals, deliveries, payloads, audit, effects, files } = await pruneStore({
      ...this.#parts,
      from,
      signal,
    })
    const removed = { runs: runs + failures, deliveries: refusals + deliveries, payloads, audit, effects, files }
    if (Object.values(removed).some((count) => count > 0)) {
      publish({ kind: 'store.pruned', ...removed, ms: clock.now() - startedAt })
    }
  }

  /**
   * The newest moment that rows of earlier processes have: this one may have a wrong clock. If all
   * rows are newer than its start, the clock was behind then.
   */
  async #findNewest(): Promise<number> {
    const { store } = this.#parts
    const started = { runs: { until: this.#madeAt }, deliveries: { before: firstId('dlv', this.#madeAt) } }
    for (const filter of [started, { runs: {}, deliveries: {} }]) {
      const runs = await store.listRuns({ ...filter.runs, limit: 1 })
      const deliveries = await store.listDeliveries({ ...filter.deliveries, limit: 1 })
      const moments = [...runs, ...deliveries].map(({ id }) => readIdTime(id))
      if (moments.length > 0) return Math.max(...moments)
    }
    return this.#madeAt
  }

  protected override failed(error: unknown): void {
    this.#parts.publish({ kind: 'fault', where: 'pruning the store', error: describeError(error) })
  }
}

/** Drops the retired secrets that are kept no longer, in a commit for each endpoint. */
async function forgetSecrets(store: Pick<Store, 'listEndpoints' | 'updateEndpoint'>, now: number): Promise<void> {
  for (const endpoint of await store.listEndpoints()) {
    const kept = planForgetting(endpoint, now)
    if (kept !== endpoint) await store.updateEndpoint(kept).catch(passOver)
  }
}

/** Somebody changed or removed the endpoint in the meantime: the next round drops them. */
function passOver(error: unknown): void {
  if (!(error instanceof UpshotError) || (error.code !== 'conflict' && error.code !== 'not_found')) throw error
}

/** The forecast of a prune, by kind; null: the kind is kept for ever. */
type PruneForecast = Record<PruneKind, Prunable | null>

interface ForecastParts {
  store: Pick<Store, 'countPrunable' | 'findUnmatchedSince'>
  clock: Clock
  /** Maximum age of each kind in milliseconds; null: for ever. */
  retention: Retention
}

/** Counts what `pruneStore` would remove now. Between two kinds, other reads have their turn. */
export async function foreseePrune({ store, clock, ...given }: ForecastParts): Promise<PruneForecast> {
  const now = clock.now()
  const bounds = boundsAt(await keepUnmatched({ store, ...given }, now), now)
  const forecast: Partial<PruneForecast> = {}
  for (const kind of PRUNE_KINDS) {
    const isKept = bounds[kind] === null
    forecast[kind] = isKept ? null : await store.countPrunable({ kind, bounds, now, limit: MAX_COUNTED + 1 })
  }
  return forecast as PruneForecast
}
