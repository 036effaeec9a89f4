import type { EffectClass } from '../../../core/safety/effect.ts'
import {
  bucketOf,
  type EffectSource,
  firstBucket,
  type Limit,
  listScopes,
  WINDOWS,
} from '../../../core/safety/guard.ts'
import type { GuardUse } from '../../../core/store/effects.ts'
import { Table } from '../../connection.ts'

interface Sum {
  count: number | null
  bytes: number | null
  newest: number | null
}

interface Counter {
  scope: string
  kind: UseClass
  width: number
}

/** Newest buckets of a counter that stay, however old they are: two windows full of them. */
const KEPT_BUCKETS = 50

/** Uses further ahead than this were counted by a clock that was wrong. */
const MAX_AHEAD_MS = 86_400_000

/** How many effects have begun, by scope and bucket of time. Index: the primary key throughout. */
export class GuardTable extends Table {
  readonly #sum = this.db.prepare<[string, string, number, number], Sum>(
    `SELECT sum(count) AS count, sum(bytes) AS bytes, max(bucket) AS newest FROM guard_use
     WHERE scope = ? AND class = ? AND width = ? AND bucket >= ?`,
  )
  readonly #join = this.db.prepare<[Counter & { bucket: number; ahead: number }]>(
    `INSERT INTO guard_use (scope, class, width, bucket, count, bytes)
       SELECT scope, class, width, CAST(@bucket AS bigint), CAST(sum(count) AS bigint), CAST(sum(bytes) AS bigint)
       FROM guard_use WHERE scope = @scope AND class = @kind AND width = @width AND bucket > @ahead
       GROUP BY scope, class, width
     ON CONFLICT (scope, class, width, bucket) DO UPDATE SET count = guard_use.count + excluded.count,
       bytes = guard_use.bytes + excluded.bytes`,
  )
  readonly #dropAhead = this.db.prepare<[Counter & { ahead: number }]>(
    'DELETE FROM guard_use WHERE scope = @scope AND class = @kind AND width = @width AND bucket > @ahead',
  )
  readonly #add = this.db.pluck<
    [string, string, number, number, number, number],
    number
  >(`INSERT INTO guard_use (scope, class, width, bucket, count, bytes) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (scope, class, width, bucket) DO UPDATE SET count = guard_use.count + excluded.count,
         bytes = guard_use.bytes + excluded.bytes
       RETURNING count`)
  // A clock that was ahead for a while must not take what counts once it is right again.
  readonly #dropOld = this.db.prepare(
    `DELETE FROM guard_use WHERE scope = @scope AND class = @kind AND width = @width AND bucket < @oldest
       AND bucket < (SELECT bucket FROM guard_use WHERE scope = @scope AND class = @kind AND width = @width
         ORDER BY bucket DESC LIMIT 1 OFFSET ${KEPT_BUCKETS})`,
  )
  readonly #take = this.db.prepare(
    `UPDATE guard_use SET count = ${this.db.sql.greatest}(0, count - ?), bytes = ${this.db.sql.greatest}(0, bytes - ?)
     WHERE scope = ? AND class = ? AND width = ? AND bucket = ?`,
  )
  readonly #list = this.db.prepare<[number, number], { scope: string; class: UseClass; count: number; bytes: number }>(
    `SELECT scope, class, sum(count) AS count, sum(bytes) AS bytes FROM guard_use
     WHERE width = ? AND bucket >= ? GROUP BY scope, class HAVING sum(count) > 0 ORDER BY scope, class`,
  )

  /** The sums that count against limits now, in their own units. */
  async listUsed(limits: readonly Limit[], now: number): Promise<Map<Limit, number>> {
    const used = new Map<Limit, number>()
    for (const limit of new Set(limits)) used.set(limit, await this.#used(limit, now))
    return used
  }

  async #used({ scope, what, window }: Limit, now: number): Promise<number> {
    const kind: EffectClass = what === 'writes' ? 'write' : 'delete'
    const width = window === 'run' ? 0 : WINDOWS[window].bucketMs
    const sum = await this.#sum.get(scope, kind, width, window === 'run' ? 0 : firstBucket(window, now))
    if (window !== 'run') await this.#bringBack({ scope, kind, width }, sum?.newest ?? 0, now)
    return (what === 'bytes' ? sum?.bytes : sum?.count) ?? 0
  }

  /** Counts as of now what a clock far ahead counted. It would else count until that moment. */
  async #bringBack(counter: Counter, newest: number, now: number): Promise<void> {
    const bucket = Math.floor(now / counter.width)
    const ahead = Math.floor((now + MAX_AHEAD_MS) / counter.width)
    if (newest <= ahead) return
    await this.#join.run({ ...counter, bucket, ahead })
    await this.#dropAhead.run({ ...counter, ahead })
  }

  /** Counts effects that begin at `now` in every scope of their source. */
  async reserve(
    source: EffectSource,
    kind: UseClass,
    size: { count: number; bytes: number },
    now: number,
  ): Promise<void> {
    for (const { scope, width, bucket, oldest } of guardBuckets(source, now)) {
      const count = await this.#add.get(scope, kind, width, bucket, size.count, size.bytes)
      // A new bucket: those that no window reads any more can go.
      if (width > 0 && count === size.count) await this.#dropOld.run({ scope, kind, width, oldest })
    }
  }

  /** Takes back an effect that was counted at `at`. */
  async refund(
    source: EffectSource,
    kind: UseClass,
    size: { count: number; bytes: number },
    at: number,
  ): Promise<void> {
    for (const { scope, width, bucket } of guardBuckets(source, at)) {
      await this.#take.run(size.count, size.bytes, scope, kind, width, bucket)
    }
  }

  /** Counters with any use in their window, by scope. */
  async listGuardUse(now: number): Promise<GuardUse[]> {
    const uses: GuardUse[] = []
    for (const window of TIMED) {
      const rows = await this.#list.all(WINDOWS[window].bucketMs, firstBucket(window, now))
      uses.push(...rows.map((row) => ({ ...row, window })))
    }
    return uses
  }
}

/** `approved`: by a person. Such effects are counted apart and fill no window. */
type UseClass = EffectClass | 'approved'

/** The windows that end by time. */
const TIMED = ['hour', 'day'] as const

/** The counters that an effect of this source fills; `width` 0: the run, in all. */
export function guardBuckets(source: EffectSource, now: number) {
  const { run, shares, ...timed } = listScopes(source)
  const ofRun = [run, ...shares].map((scope) => ({ scope, width: 0, bucket: 0, oldest: 0 }))
  const ofTime = Object.values(timed).flatMap((scope) =>
    scope === null
      ? []
      : TIMED.map((window) => {
          const bucket = bucketOf(window, now)
          // Kept twice as long as it counts, for a clock that is set back.
          const oldest = firstBucket(window, now) * 2 - bucket
          return { scope, width: WINDOWS[window].bucketMs, bucket, oldest }
        }),
  )
  return [...ofTime, ...ofRun]
}
