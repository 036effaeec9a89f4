import type { ServerResponse } from 'node:http'
import { TOPICS, type Topic } from './topics.ts'

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
export class LiveClient {
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
