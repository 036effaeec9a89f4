import type { ServerResponse } from 'node:http'
import { UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { Notice } from '../../core/notices.ts'
import type { ReadStore, StoreWatch } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

/** Things that a page shows and may have to ask for again; `any`: another process has written. */
const TOPICS = [
  'runs',
  'events',
  'deliveries',
  'endpoints',
  'workflows',
  'schedules',
  'operations',
  'system',
  'any',
] as const
type Topic = (typeof TOPICS)[number]

/** The topics that a notice changes, and its run; no topics for one that changes nothing shown. */
function topicsOf(notice: Notice): { topics: readonly Topic[]; run: string | null } {
  const run = 'run' in notice && typeof notice.run === 'string' ? notice.run : null
  const [noun] = notice.kind.split('.')
  switch (noun) {
    case 'run':
    case 'runs':
    case 'step':
      return { topics: notice.kind === 'run.log' ? [] : ['runs'], run }
    case 'delivery':
      return { topics: ['deliveries', 'events'], run: null }
    case 'tick':
    case 'schedule':
      return { topics: ['schedules', 'runs'], run }
    case 'endpoint':
      return { topics: ['endpoints'], run: null }
    case 'workflow':
    case 'workflows':
      return { topics: ['workflows'], run: null }
    case 'store':
    case 'app':
    case 'fault':
    case 'alert':
      return { topics: ['system'], run: null }
    default:
      return { topics: [], run: null }
  }
}

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

/** Ids of runs in one message; beyond, the page asks for all that it shows. */
const MAX_RUNS = 50
/** Least time between two messages about changes. */
const PACE_MS = 500

/** Most bytes that wait for a client. A socket by itself lets four times as many wait. */
const MAX_QUEUED = 16_384

/** The response of a client, as far as the feed uses it. */
export type Stream = Pick<ServerResponse, 'write' | 'end' | 'once' | 'writableNeedDrain' | 'writableLength'>

/**
 * A page that listens: a set of topics that it is owed. Nothing is written while its socket is
 * full, so a client that does not read costs no memory.
 */
class LiveClient {
  readonly #stream: Stream
  readonly #topics = new Set<Topic>()
  readonly #runs = new Set<string>()
  readonly #progress = new Map<string, unknown>()
  #sentAt = -Infinity

  constructor(stream: Stream) {
    this.#stream = stream
  }

  owe(topics: readonly Topic[], run: string | null): void {
    for (const topic of topics) this.#topics.add(topic)
    if (run !== null && this.#runs.size <= MAX_RUNS) this.#runs.add(run)
  }

  oweAll(): void {
    this.owe(TOPICS, null)
  }

  /** The progress of an operation: only its newest one is sent. */
  oweProgress(id: string, progress: unknown): void {
    this.#progress.set(id, progress)
  }

  get isOwed(): boolean {
    return this.#topics.size > 0 || this.#progress.size > 0
  }

  /** When the next message about changes may be sent. */
  get readyAt(): number {
    return this.#sentAt + PACE_MS
  }

  get #isFull(): boolean {
    return this.#stream.writableNeedDrain || this.#stream.writableLength > MAX_QUEUED
  }

  /** Sends what is owed, unless the socket is full or the last message is too new. */
  flush(id: string, rev: number, now: number): void {
    if (!this.isOwed || now < this.readyAt || this.#isFull) return
    const topics = TOPICS.filter((topic) => this.#topics.has(topic))
    if (topics.length > 0) {
      const runs = this.#runs.size === 0 || this.#runs.size > MAX_RUNS ? {} : { runs: [...this.#runs] }
      this.send('changed', { rev, topics, ...runs }, id)
    }
    for (const progress of this.#progress.values()) this.send('operation', progress, id)
    this.#topics.clear()
    this.#runs.clear()
    this.#progress.clear()
    this.#sentAt = now
  }

  send(event: string, data: unknown, id?: string): void {
    const head = id === undefined ? '' : `id: ${id}\n`
    this.#stream.write(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Keeps proxies from closing a silent connection. */
  comment(): void {
    if (!this.#isFull) this.#stream.write(': still here\n\n')
  }

  end(reason: string): void {
    this.send('bye', { reason })
    this.#stream.end()
  }
}
