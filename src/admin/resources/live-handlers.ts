import { UpshotError } from '../../core/errors.ts'
import type { ReadStore, StoreWatch } from '../../core/store/store.ts'
import { type Clock, waitUntil } from '../../core/time.ts'
import type { Authenticator } from '../access/authenticator.ts'
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
  authenticator: Pick<Authenticator, 'identify'>
  cookieName: () => string
}

interface Page {
  /** Something has changed that it was not told of. */
  isOwed: boolean
  wake: () => void
}

/** The live feed, until the signal aborts. */
export function liveHandlers(parts: LiveParts, stopped: AbortSignal): HttpHandlers<keyof typeof LIVE_ROUTES> {
  const { authenticator, clock, cookieName } = parts
  const feed = new LiveFeed(parts)
  return {
    async 'GET /live'({ request, caller, signal }) {
      const credentials = { headers: request.headers, address: caller.address, cookieName: cookieName() }
      const recheck = () => authenticator.identify(credentials, clock.now(), { isUse: false })
      return feed.open(recheck, AbortSignal.any([signal, stopped]))
    },
  }
}

/**
 * Tells pages that something changed, never what it is. They ask again, so rights and masking stay
 * in one place. Nothing is kept for a page that does not read but that there is something to tell.
 */
export class LiveFeed {
  readonly #parts: Pick<LiveParts, 'clock' | 'store'>
  readonly #pages = new Set<Page>()
  #watch: StoreWatch | null = null

  constructor(parts: Pick<LiveParts, 'clock' | 'store'>) {
    this.#parts = parts
  }

  /** Throws `overloaded` above 50 pages. The messages end with the login, or with the signal. */
  open(recheck: () => Promise<unknown>, signal: AbortSignal): AsyncIterable<{ changed: boolean }> {
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
    return this.#tell(page, recheck, signal)
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

  async *#tell(page: Page, recheck: () => Promise<unknown>, signal: AbortSignal) {
    const { clock } = this.#parts
    try {
      for (let checkedAt = clock.now(); !signal.aborted; ) {
        const changed = page.isOwed
        page.isOwed = false
        const toldAt = clock.now()
        yield { changed }
        await waitUntil(clock, toldAt + PACE_MS, signal).catch(() => {})
        if (!page.isOwed && !signal.aborted) await this.#wait(page, toldAt + SILENT_MS)
        if (clock.now() < checkedAt + SILENT_MS) continue
        checkedAt = clock.now()
        if (!(await recheck().then(Boolean, () => false))) return
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
