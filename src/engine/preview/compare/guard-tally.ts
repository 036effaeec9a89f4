import { type Guard, type Limit, measure, WINDOWS, type WorkflowLimits } from '../../../core/safety/guard.ts'
import { type GuardRules, planLimitsOf } from '../find-held.ts'
import type { PreviewedEffect } from '../previewed.ts'

/** A limit that previewed runs would exceed. */
export interface Exceeded {
  /** The setting, such as `guard.workflow.deletes.perHour`. */
  limit: string
  most: number
  /** Runs, hours or days in which it would. */
  times: number
  /** The largest sum of one of them. */
  largest: number
}

/**
 * Adds up the effects of previewed runs against the limits of the guard. Hours and days are those
 * of the clock, so that runs may come in any order.
 */
export class GuardTally {
  readonly #guard: Guard | null
  readonly #own: WorkflowLimits | undefined
  readonly #windows = new Map<string, { limit: Limit; sum: number }>()
  readonly #runs = new Map<string, Exceeded>()

  constructor(guard: Guard | null, own: WorkflowLimits | undefined) {
    this.#guard = guard
    this.#own = own
  }

  /** `at`: when the run began, in epoch milliseconds. */
  add(source: GuardRules['source'], effects: readonly PreviewedEffect[], at: number): void {
    if (this.#guard === null) return
    const inRun = new Map<string, { limit: Limit; sum: number }>()
    for (const effect of effects) {
      const size = { count: 1, bytes: effect.asked?.bytes ?? 0 }
      // A folder always asks, and is no setting to raise.
      const counted = { ...effect, isFolderAllowed: false }
      for (const limit of planLimitsOf(counted, { limits: this.#guard, own: this.#own, source })) {
        const { window, scope, setting } = limit
        const slot = window === 'run' ? 0 : Math.floor(at / WINDOWS[window].ms)
        const sums = window === 'run' ? inRun : this.#windows
        raise(sums, `${setting} ${scope} ${slot}`, limit, measure(limit, size))
      }
    }
    // A share counts in each folder: the fullest one stands for the run.
    const fullest = new Map<string, { limit: Limit; sum: number }>()
    for (const each of inRun.values()) {
      const known = fullest.get(each.limit.setting)
      if (!known || each.sum - each.limit.most > known.sum - known.limit.most) fullest.set(each.limit.setting, each)
    }
    for (const { limit, sum } of fullest.values()) this.#note(this.#runs, limit, sum)
  }

  get exceeded(): Exceeded[] {
    const found = new Map([...this.#runs].map(([setting, each]) => [setting, { ...each }]))
    for (const { limit, sum } of this.#windows.values()) this.#note(found, limit, sum)
    return [...found.values()].sort((one, other) => other.times - one.times)
  }

  #note(found: Map<string, Exceeded>, { setting, most }: Limit, sum: number): void {
    if (sum <= most) return
    const known = found.get(setting) ?? { limit: setting, most, times: 0, largest: 0 }
    found.set(setting, { ...known, times: known.times + 1, largest: Math.max(known.largest, sum) })
  }
}

function raise(sums: Map<string, { limit: Limit; sum: number }>, key: string, limit: Limit, by: number): void {
  const known = sums.get(key)
  // The share of a listing grows with it: the last one counts.
  if (known) Object.assign(known, { limit, sum: known.sum + by })
  else sums.set(key, { limit, sum: by })
}
