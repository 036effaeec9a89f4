import { UpshotError } from '../../core/errors.ts'
import type { ReadStore, StoreWatch } from '../../core/store/store.ts'
import { type Clock, waitUntil } from '../../core/time.ts'
import type { LIVE_ROUTES } from '../contract/resources/access/access.ts'
import type { HttpHandlers } from '../perform/handler.ts'

/** Pages that one process tells; one more is answered 503. */
const MAX_PAGES = 50
/** Least time between two messages, and the most: a proxy may close a silent connection. */
const PACE_MS = 500
const SILENT_MS = 15_000

interface LiveParts {
  clock: Clock
  store: Pick<ReadStore, 'watch'>
}

interface Page {
  /** Something has changed that it was not told of. */
  isOwed: boolean
  wake: () => void
}

/** The live feed, until the signal aborts. */
export function liveHandlers(parts: LiveParts, stopped: AbortSignal): HttpHandlers<keyof typeof LIVE_ROUTES> {
  const feed = new LiveFeed(parts)
  return {
    'GET /live': async ({ mayGoOn, signal }) => feed.open(mayGoOn, AbortSignal.any([signal, stopped])),
  }
}

/**
 * Tells pages that something changed, never what it is. They ask again, so rights and masking stay
 * in one place. Nothing is kept for a page that does not read but that there is something to tell.
 */
export class LiveFeed {
  readonly #parts: LiveParts
  readonly #pages = new Set<Page>()
  #watch: StoreWatch | null = null

  constructor(parts: LiveParts) {
    this.#parts = parts
  }

  /** Throws `overloaded` above 50 pages. The messages end with the login, or with the signal. */
  open(mayGoOn: () => Promise<boolean>, signal: AbortSignal): AsyncIterable<{ changed: boolean }> {
    if (this.#pages.size >= MAX_PAGES) {
      throw new UpshotError('overloaded', `This process has ${MAX_PAGES} open pages already.`, {
        fix: 'Close a page, or ask without the live feed.',
      })
    }
    const { clock, store } = this.#parts
    // Anything may have changed before the page listened.
    const page: Page = { isOwed: true, wake: () => {} }
    this.#pages.add(page)
    this.#watch ??= store.watch(clock, () => this.#change())
    signal.addEventListener('abort', () => this.#leave(page), { once: true })
    return this.#tell(page, mayGoOn, signal)
  }

  #change(): void {
    for (const page of this.#pages) {
      page.isOwed = true
      page.wake()
    }
  }

  /** Nothing is watched while nobody listens. */
  #leave(page: Page): void {
    this.#pages.delete(page)
    page.wake()
    if (this.#pages.size > 0) return
    this.#watch?.stop()
    this.#watch = null
  }

  async *#tell(page: Page, mayGoOn: () => Promise<boolean>, signal: AbortSignal) {
    const { clock } = this.#parts
    try {
      for (let checkedAt = clock.now(); !signal.aborted; ) {
        const changed = page.isOwed
        page.isOwed = false
        const toldAt = clock.now()
        yield { changed }
        await waitUntil(clock, toldAt + PACE_MS, signal).catch(() => {})
        if (!page.isOwed && !signal.aborted) await this.#wait(page, toldAt + SILENT_MS)
        if (Math.abs(clock.now() - checkedAt) < SILENT_MS) continue
        checkedAt = clock.now()
        if (!(await mayGoOn())) return
      }
    } finally {
      this.#leave(page)
    }
  }

  /** Resolves with a change, at the moment, or when the page has left. */
  #wait(page: Page, moment: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.at(moment, () => resolve())
      page.wake = () => {
        cancel()
        resolve()
      }
    })
  }
}
