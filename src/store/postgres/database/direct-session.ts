import { randomUUID } from 'node:crypto'
import type { Client, Notification } from 'pg'
import pg from 'pg'
import type { CommitCounts } from '../../../core/commit-counts.ts'
import { endSession, type PoolOptions, sessionSettings } from './pool.ts'

/** Hints are gathered for this long, in milliseconds: a notification is a commit of its own. */
const GATHER_MS = 5
/** Pause before a lost session is opened again, in milliseconds. */
const AGAIN_MS = 1_000
/** A server that was away may take so long, in milliseconds, to hear again from all who live. */
const STEADY_MS = 10_000
/** Interval at which a session that hears of no write, behind a pooler, looks for them. */
const LOOK_MS = 50
/**
 * Interval at which the workers of this process say that they are alive. Without workers, the
 * session proves that it is not deaf: nothing else may be asked in it.
 */
const BEAT_MS = 1_000

/** SQL for the moment by the clock of the database, in epoch milliseconds. */
export const DATABASE_NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
/** SQL for the key of a worker's lock. */
export const workerLock = (worker: string) => `hashtextextended('worker ' || ${worker}, 0)`

/** Tells other processes of writes and of workers, and hears from them. All of it is hints. */
export interface Session {
  /** Calls `onChange` after writes of any process. Gives the call that ends it. */
  watch(onChange: () => void): () => void
  hint(): void
  /** Holds the lock of a worker of this process, and beats for it, until it is dropped. */
  hold(worker: string): Promise<void>
  drop(worker: string): Promise<void>
  /**
   * False where it was lost within the last ten seconds. Other processes may have lost theirs, with
   * the locks and beats of workers that live.
   */
  isSteady(): Promise<boolean>
  close(): Promise<void>
}

/**
 * A session that tells other processes of writes, and holds the locks of this process's workers.
 * Losing it loses no run: a lost hint costs a poll, and a lost lock some seconds.
 */
export class DirectSession implements Session {
  readonly #options: PoolOptions
  readonly #watchers = new Set<() => void>()
  readonly #workers = new Set<string>()
  readonly #channel: string
  readonly #counts: CommitCounts | null
  /** Tells its own notifications from those of other processes. */
  readonly #name = randomUUID()
  /** Uptime at the first write of the notification under way; null: there is none. */
  #hintedAt: number | null = null
  #client: pg.Client | null = null
  #lostAt = Number.NEGATIVE_INFINITY
  #opening: Promise<void> | null = null
  #last: Promise<void> = Promise.resolve()
  #hint: NodeJS.Timeout | null = null
  #again: NodeJS.Timeout | null = null
  #beats: NodeJS.Timeout | null = null
  #looks: NodeJS.Timeout | null = null
  #isLooking = false
  /** The end of the server's log at the last look. */
  #position = ''
  #isClosed = false

  constructor(options: PoolOptions, counts: CommitCounts | null = null) {
    this.#options = options
    this.#counts = counts
    this.#channel = `upshot ${options.schema}`.slice(0, 63)
  }

  watch(onChange: () => void): () => void {
    const watcher = () => onChange()
    this.#watchers.add(watcher)
    void this.#open()
    return () => {
      this.#watchers.delete(watcher)
    }
  }

  hint(): void {
    if (this.#hint !== null || this.#isClosed) return
    const startedAt = performance.now()
    this.#hint = setTimeout(() => {
      this.#hint = null
      this.#hintedAt ??= startedAt
      void this.#query('SELECT pg_notify($1, $2)', [this.#channel, this.#name])
    }, GATHER_MS)
  }

  async hold(worker: string): Promise<void> {
    if (this.#workers.has(worker)) return
    this.#workers.add(worker)
    await this.#query(`SELECT pg_try_advisory_lock(${workerLock('$1')})`, [worker])
  }

  async drop(worker: string): Promise<void> {
    if (!this.#workers.delete(worker)) return
    await this.#query(`SELECT pg_advisory_unlock(${workerLock('$1')})`, [worker])
  }

  async isSteady(): Promise<boolean> {
    return performance.now() - this.#lostAt >= STEADY_MS
  }

  /** Its workers are dead for the others at once. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    for (const timer of [this.#beats, this.#looks]) if (timer !== null) clearInterval(timer)
    if (this.#workers.size > 0)
      await this.#query('UPDATE worker SET seen_at = 0 WHERE id = ANY ($1)', [[...this.#workers]])
    this.#isClosed = true
    for (const timer of [this.#hint, this.#again]) if (timer !== null) clearTimeout(timer)
    await this.#opening
    // A session that opened meanwhile has begun to beat.
    if (this.#beats !== null) clearInterval(this.#beats)
    if (this.#client) await endSession(this.#client)
  }

  #beat(): Promise<void> {
    return this.#query(`UPDATE worker SET seen_at = ${DATABASE_NOW} WHERE id = ANY ($1)`, [[...this.#workers]])
  }

  /** One statement after the other. A failed one ends the session: the next one opens another. */
  #query(text: string, values: unknown[]): Promise<void> {
    this.#last = this.#last.then(async () => {
      await this.#open()
      const client = this.#client
      await client?.query(text, values).catch(() => this.#lose(client))
    })
    return this.#last
  }

  #open(): Promise<void> {
    if (this.#client !== null || this.#again !== null || this.#isClosed) return Promise.resolve()
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #connect(): Promise<void> {
    for (const host of this.#options.hosts) {
      const client = new pg.Client({ ...host, ...sessionSettings(this.#options) })
      client.on('error', () => this.#lose(client))
      client.on('notification', ({ payload }) => {
        if (payload === this.#name) this.#noteHint()
        for (const watcher of this.#watchers) watcher()
      })
      try {
        await client.connect()
        const isDirect = await hearsItself(client, this.#channel)
        // A hint needs no disk, and the notice of one holds up those of all others to its commit. A
        // pooler would give this setting to whoever comes next.
        if (isDirect) await client.query('SET synchronous_commit = off')
        this.#lookForWrites(!isDirect)
        for (const worker of this.#workers) {
          await client.query(`SELECT pg_try_advisory_lock(${workerLock('$1')})`, [worker])
        }
        this.#client = client
        this.#beats ??= setInterval(() => void this.#beat(), BEAT_MS).unref()
        // Nobody heard the writes of the meantime.
        for (const watcher of this.#watchers) watcher()
        return
      } catch {
        void endSession(client)
      }
    }
    this.#lose()
  }

  /** All processes hear a notification at about the same time, its sender included. */
  #noteHint(): void {
    if (this.#hintedAt !== null) this.#counts?.addHint(performance.now() - this.#hintedAt)
    this.#hintedAt = null
  }

  #lookForWrites(isDeaf: boolean): void {
    if (this.#looks !== null) clearInterval(this.#looks)
    this.#looks = isDeaf && !this.#isClosed ? setInterval(() => void this.#look(), LOOK_MS).unref() : null
  }

  /** Each commit makes the log of the server longer. */
  async #look(): Promise<void> {
    const client = this.#client
    if (client === null || this.#isLooking || this.#watchers.size === 0) return
    this.#isLooking = true
    try {
      const { rows } = await client.query<{ position: string }>('SELECT pg_current_wal_insert_lsn()::text AS position')
      const before = this.#position
      this.#position = rows[0]?.position ?? ''
      if (before !== this.#position) for (const watcher of this.#watchers) watcher()
    } catch {
      this.#lose(client)
    } finally {
      this.#isLooking = false
    }
  }

  #lose(client = this.#client): void {
    if (client !== this.#client) return
    if (client) void endSession(client)
    this.#client = null
    this.#lostAt = performance.now()
    this.#hintedAt = null
    if (this.#isClosed || this.#again !== null) return
    this.#again = setTimeout(() => {
      this.#again = null
      void this.#open()
    }, AGAIN_MS).unref()
  }
}

/** A notification of a session to itself comes with the answer; a pooler swallows it. */
const HEARD_WITHIN_MS = 1_000

/**
 * Whether a session that listens on a channel hears what is sent there. False behind a pooler,
 * where the process of the server is not the one that the session was told.
 */
async function hearsItself(client: Client, channel: string): Promise<boolean> {
  const word = randomUUID()
  const heard = Promise.withResolvers<boolean>()
  const listen = ({ payload }: Notification) => void (payload === word && heard.resolve(true))
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  if (!('processID' in client) || client.processID !== rows[0]?.pid) return false
  client.on('notification', listen)
  const timer = setTimeout(() => heard.resolve(false), HEARD_WITHIN_MS)
  try {
    await client.query(`LISTEN "${channel.replaceAll('"', '""')}"`)
    await client.query('SELECT pg_notify($1, $2)', [channel, word])
    return await heard.promise
  } finally {
    clearTimeout(timer)
    client.off('notification', listen)
  }
}
