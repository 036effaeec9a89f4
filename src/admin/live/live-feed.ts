import { UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Notice } from '../../core/notices.ts'
import type { ReadStore, StoreWatch } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { LiveClient, type Stream } from './live-client.ts'
import { type Topic, topicsOf } from './topics.ts'

/** Clients of one process; one more is answered 503. */
const MAX_CLIENTS = 50
const COMMENT_MS = 15_000

export interface LiveFeedParts {
  clock: Clock
  store: Pick<ReadStore, 'watch'>
  /** Hears every notice of this process, until the result is called. */
  listen: (hear: (notice: Notice) => void) => () => void
}

/** A client that has logged in. */
interface Listener {
  hello: { role: string; version: string }
  /** The last id that it saw; undefined at its first time. */
  lastId: string | undefined
  /** Rejects once its login is over. */
  recheck: () => Promise<unknown>
}

/**
 * Tells pages that something changed, never what it is. They ask again, so rights and masking stay
 * in one place. A page that comes back is told that everything may have changed: no history is
 * kept.
 */
export class LiveFeed {
  readonly #parts: LiveFeedParts
  readonly #epoch = randomWord().slice(0, 8)
  readonly #clients = new Map<LiveClient, Listener>()
  #rev = 0
  #cancelFlush: (() => void) | null = null
  #cancelComment = () => {}
  #watch: StoreWatch | null = null
  #unlisten = () => {}

  constructor(parts: LiveFeedParts) {
    this.#parts = parts
  }

  /** Throws `overloaded` above 50 clients. The stream ends with the login, or with the process. */
  open(stream: Stream, listener: Listener): void {
    if (this.#clients.size >= MAX_CLIENTS) {
      throw new UpshotError('overloaded', `This process has ${MAX_CLIENTS} open pages already.`, {
        fix: 'Close a page, or ask without the live feed.',
      })
    }
    if (this.#clients.size === 0) this.#begin()
    const client = new LiveClient(stream)
    this.#clients.set(client, listener)
    stream.once('close', () => this.#leave(client))
    client.send('hello', { epoch: this.#epoch, rev: this.#rev, ...listener.hello }, this.#id)
    if (listener.lastId !== undefined && listener.lastId !== this.#id) client.oweAll()
    this.#flush()
  }

  /** Sends the progress of an operation of this process. */
  report(id: string, progress: unknown): void {
    for (const client of this.#clients.keys()) client.oweProgress(id, progress)
    this.#change(['operations'], null)
  }

  stop(reason: string): void {
    for (const client of [...this.#clients.keys()]) this.#end(client, reason)
  }

  get #id(): string {
    return `${this.#epoch}.${this.#rev}`
  }

  /** Nothing is watched while nobody listens. */
  #begin(): void {
    const { clock, store, listen } = this.#parts
    this.#watch = store.watch(clock, () => this.#change(['any'], null))
    this.#unlisten = listen((notice) => {
      const { topics, run } = topicsOf(notice)
      if (topics.length > 0) this.#change(topics, run)
    })
    this.#comment()
  }

  #comment(): void {
    const { clock } = this.#parts
    this.#cancelComment = clock.at(clock.now() + COMMENT_MS, () => {
      for (const [client, { recheck }] of this.#clients) {
        client.comment()
        recheck().catch(() => this.#end(client, 'the login is over'))
      }
      this.#comment()
    })
  }

  #change(topics: readonly Topic[], run: string | null): void {
    this.#rev += 1
    for (const client of this.#clients.keys()) client.owe(topics, run)
    this.#flush()
  }

  #flush(): void {
    const { clock } = this.#parts
    const now = clock.now()
    for (const client of this.#clients.keys()) client.flush(this.#id, this.#rev, now)
    const owed = [...this.#clients.keys()].filter(({ isOwed }) => isOwed)
    if (owed.length === 0 || this.#cancelFlush !== null) return
    // A full socket is looked at again after the pace, too.
    const next = Math.max(now + 1, Math.min(...owed.map(({ readyAt }) => Math.max(readyAt, now + 50))))
    this.#cancelFlush = clock.at(next, () => {
      this.#cancelFlush = null
      this.#flush()
    })
  }

  #end(client: LiveClient, reason: string): void {
    if (!this.#clients.has(client)) return
    client.end(reason)
    this.#leave(client)
  }

  #leave(client: LiveClient): void {
    if (!this.#clients.delete(client) || this.#clients.size > 0) return
    this.#cancelFlush?.()
    this.#cancelFlush = null
    this.#cancelComment()
    this.#watch?.stop()
    this.#unlisten()
  }
}
