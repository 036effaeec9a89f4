/** A read, a digest, a timer or the like that the author's code has begun outside steps. */
export interface OwnWorkItem {
  isTimer: boolean
  /** File, line and column of the code that began it; null where the stack does not tell. */
  place: string | null
}

/** A timer or an immediate of Node, as far as it tells whether it will still fire. */
interface Resource {
  _destroyed?: boolean
  hasRef?: () => boolean
}

/** Work of one pass that its code has begun outside steps, and awaits. */
export class OwnWork {
  #items: Map<number, OwnWorkItem & { resource: Resource }> | null = null
  #moves = 0
  /** Called when one of the items has ended. */
  onEnd = () => {}
  /** Called for each timer that the code sets. */
  onTimer: ((item: OwnWorkItem) => void) | undefined

  /** Counts beginnings and ends: while it stays the same, the work is still. */
  get moves(): number {
    return this.#moves
  }

  /** The oldest item that will still end; null where there is none. */
  get pending(): OwnWorkItem | null {
    if (this.#items === null) return null
    for (const item of this.#items.values()) if (mayEnd(item.resource)) return item
    return null
  }

  begin(id: number, item: OwnWorkItem, resource: Resource): void {
    this.#moves += 1
    this.#items ??= new Map()
    this.#items.set(id, { ...item, resource })
    // A timer that only bounds something else is detached at once.
    if (item.isTimer && this.onTimer) queueMicrotask(() => mayEnd(resource) && this.onTimer?.(item))
  }

  end(id: number): void {
    if (!this.#items?.delete(id)) return
    this.#moves += 1
    this.onEnd()
  }

  /** The pass is over: what its code has begun is of no interest any more. */
  close(): void {
    for (const id of this.#items?.keys() ?? []) begun.delete(id)
    this.#items = null
  }
}

/** A timer that was cleared, or that keeps no process alive, is not awaited. */
function mayEnd(resource: Resource): boolean {
  return resource._destroyed !== true && resource.hasRef?.() !== false
}

/** The work of all passes of this thread, by the id of each open item. */
export const begun = new Map<number, OwnWork>()
let isQuiet = false

/** True while code of the engine begins something that is not the author's. */
export function isEngineAtWork(): boolean {
  return isQuiet
}

/** Calls code of the engine whose timers are not the author's. */
export function quietly<T>(call: () => T): T {
  isQuiet = true
  try {
    return call()
  } finally {
    isQuiet = false
  }
}

/** Real time between two looks at the work of the code's own. */
const LOOK_MS = 25
/** Most real time that one look counts: a loaded machine looks late. */
const MAX_COUNTED_MS = 50
/** Real time for which work of the code's own may stand still before its pass parks. */
const STILL_MS = 250
/** Longest real time, in one pass, for which work of the code's own keeps it from parking. */
const LINGER_MS = 5_000

/** How long a pass has lingered for work of its code outside steps. See decision 53. */
export class Lingering {
  #ms = 0
  #stillMs = 0
  #moves = -1
  #lookedAt: number | null = null
  #timer: NodeJS.Timeout | undefined

  /**
   * True while the code awaits something of its own, so that it may still come to a step. Calls
   * `look` when that may have changed, and `reportPending` once the bounds are reached.
   */
  goesOn(ownWork: OwnWork, look: () => void, reportPending?: (item: OwnWorkItem) => void): boolean {
    const { pending, moves } = ownWork
    if (pending === null) return false
    const now = performance.now()
    const passedMs = Math.min(now - (this.#lookedAt ?? now), MAX_COUNTED_MS)
    this.#ms += passedMs
    this.#stillMs = moves === this.#moves ? this.#stillMs + passedMs : 0
    this.#moves = moves
    this.#lookedAt = now
    if (this.#stillMs >= STILL_MS || this.#ms >= LINGER_MS) {
      reportPending?.(pending)
      return false
    }
    ownWork.onEnd = look
    clearTimeout(this.#timer)
    this.#timer = quietly(() => setTimeout(look, LOOK_MS))
    return true
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
