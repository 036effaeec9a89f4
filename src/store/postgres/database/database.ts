import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { CommitCounts, WaitFor } from '../../../core/commit-counts.ts'
import { UpshotError } from '../../../core/errors.ts'
import { Connection } from './connection.ts'
import type { Pool } from './pool.ts'
import { codeOf, isLost, isPassing, translateFault } from './postgres-fault.ts'

/** Takes part in every transaction of its connection. */
interface TransactionParts {
  /** The last writes of the transaction. */
  ending(): Promise<void>
  rolledBack(): void
}

const REPEAT_MS = 8_000
/** A probe without an answer for this long has found the database gone. */
const PROBE_MS = 3_000
/** Most milliseconds between two tries; the first pause is short. */
const MAX_PAUSE_MS = 250

interface DatabasePlace {
  pool: Pool
  /** Host and name of the database, for messages. */
  name: string
  counts?: CommitCounts | null
  /** A call is repeated for so many milliseconds while its fault may pass. Default 8,000. */
  repeatMs?: number
}

/** Performs the calls of the store, each again where a fault passes. See decision 62. */
export class Database<Tables extends { parts: TransactionParts }> {
  readonly #pool: Pool
  readonly #openTables: (connection: Connection) => Tables
  readonly #tables = new WeakMap<Client, Tables>()
  /** Host and name of the database, for messages. */
  readonly #place: string
  readonly #counts: CommitCounts | null
  readonly #repeatMs: number
  #isClosed = false

  constructor(
    { pool, name, counts = null, repeatMs = REPEAT_MS }: DatabasePlace,
    openTables: (connection: Connection) => Tables,
  ) {
    this.#pool = pool
    this.#place = name
    this.#counts = counts
    this.#repeatMs = repeatMs
    this.#openTables = openTables
  }

  /** Statements that each stand alone, and may be made twice. */
  read<T>(use: (tables: Tables) => Promise<T>): Promise<T> {
    return this.#repeat(() => this.#withClient((client) => use(this.#tablesOf(client))))
  }

  /** The same without repeats and within 3 s: the answer may be that the database is gone. */
  async probe<T>(use: (tables: Tables) => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>()
    const fault = Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })
    const timer = setTimeout(() => late.reject(fault), PROBE_MS)
    try {
      return await Promise.race([this.#withClient((client) => use(this.#tablesOf(client))), late.promise])
    } catch (error) {
      throw translateFault(error, this.#place)
    } finally {
      clearTimeout(timer)
    }
  }

  /** One statement that is not repeated; the fault is the driver's. */
  once<T>(use: (tables: Tables) => Promise<T>): Promise<T> {
    return this.#withClient((client) => use(this.#tablesOf(client)))
  }

  /** To be told of the waits for calls before others. */
  waited(what: WaitFor): (ms: number) => void {
    return (ms) => this.#counts?.addWait(what, ms)
  }

  /** One statement that commits `writes` of the port's calls, and may be made twice. */
  call<T>(writes: number, use: (tables: Tables) => Promise<T>): Promise<T> {
    return this.#repeat(async () => {
      const startedAt = performance.now()
      // Before reads, of which each run has its own.
      const value = await this.#withClient((client) => use(this.#tablesOf(client)), true)
      const ms = performance.now() - startedAt
      this.#counts?.add(writes, ms, ms)
      return value
    })
  }

  /**
   * Performs `use` in one transaction, again as a whole where the server asks for it. A commit
   * whose answer is lost is settled by asking for its fate.
   */
  write<T>(use: (tables: Tables, era: string) => Promise<T>): Promise<T> {
    return this.#repeat(async () => {
      const done = await this.#withClient((client) => this.#transact(client, use))
      if ('value' in done) return done.value
      const { value, fault } = done.unknown
      if (await this.#isCommitted(done.unknown)) return value
      throw fault
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.close()
  }

  async #transact<T>(
    client: Client,
    use: (tables: Tables, era: string) => Promise<T>,
  ): Promise<{ value: T } | { unknown: Begun & { value: T; fault: unknown } }> {
    const tables = this.#tablesOf(client)
    const startedAt = performance.now()
    let begun: Begun
    let value: T
    try {
      begun = await begin(client)
      value = await use(tables, begun.era)
      await tables.parts.ending()
    } catch (error) {
      tables.parts.rolledBack()
      if (!isLost(error)) await client.query('ROLLBACK')
      throw error
    }
    const endedAt = performance.now()
    try {
      await client.query('COMMIT')
      const now = performance.now()
      this.#counts?.add(1, now - startedAt, now - endedAt)
      return { value }
    } catch (fault) {
      tables.parts.rolledBack()
      if (!isLost(fault)) throw fault
      return { unknown: { ...begun, value, fault } }
    }
  }

  async #isCommitted(begun: Begun): Promise<boolean> {
    try {
      const isCommitted = await this.#askFate(begun)
      this.#counts?.addFate(isCommitted ? 'committed' : 'undone')
      return isCommitted
    } catch (error) {
      this.#counts?.addFate('unknown')
      throw error
    }
  }

  /** The fate of a transaction whose commit was not answered; waits while it is at work. */
  async #askFate({ xid, era }: Begun): Promise<boolean> {
    const noted = () => {}
    return this.#repeat(async () => {
      const { status, present } = await this.#withClient((client) => readFate(client, xid))
      // After a failover, the number may be that of another transaction.
      if (status === 'committed' && present !== era) throw describeUnknown(this.#place)
      if (status === 'in progress') throw Object.assign(new Error('the commit is under way'), { code: '55P03' })
      return status === 'committed'
    }, noted)
  }

  async #withClient<T>(use: (client: Client) => Promise<T>, isFirst = false): Promise<T> {
    const client = await this.#take(isFirst)
    let isSound = true
    try {
      return await use(client)
    } catch (error) {
      isSound = !isLost(error)
      throw error
    } finally {
      this.#pool.release(client, isSound)
    }
  }

  async #take(isFirst: boolean): Promise<Client> {
    const startedAt = this.#pool.isBusy ? performance.now() : null
    const client = await this.#pool.take(isFirst)
    this.#counts?.addWait('session', startedAt === null ? 0 : performance.now() - startedAt)
    return client
  }

  /** `told`: given the code of each fault after which the attempt is made again. */
  async #repeat<T>(attempt: () => Promise<T>, told = (code: string) => this.#counts?.addRepeat(code)): Promise<T> {
    const until = performance.now() + this.#repeatMs
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        if (this.#isClosed) throw new UpshotError('store_unavailable', 'The store is closed.')
        return await attempt()
      } catch (error) {
        if (!isPassing(error) || performance.now() + pauseMs > until) throw translateFault(error, this.#place)
        told(codeOf(error))
        await sleep(pauseMs + Math.random() * pauseMs)
      }
    }
  }

  #tablesOf(client: Client): Tables {
    const known = this.#tables.get(client)
    if (known) return known
    const tables = this.#openTables(new Connection(client))
    this.#tables.set(client, tables)
    return tables
  }
}

/** A transaction's number, and the history of the server that it is part of. */
interface Begun {
  xid: string
  era: string
}

/** The number of a transaction that the server has not given to any yet. */
const UNGIVEN = '22023'

/**
 * A null status stands for a transaction that this server has never had, or long forgotten. A
 * commit that waits for a standby looks done once its session is ended. So the question writes to
 * the log, and its answer comes when the standby has both.
 */
async function readFate(client: Client, xid: string): Promise<{ status: string | null; present: string }> {
  const fate = `SELECT pg_xact_status($1::text::xid8) AS status, era_1() AS present,
    pg_logical_emit_message(true, 'upshot', '')`
  try {
    const { rows } = await client.query<{ status: string | null; present: string }>(fate, [xid])
    return rows[0] ?? { status: null, present: '' }
  } catch (error) {
    if (codeOf(error) === UNGIVEN) return { status: null, present: '' }
    throw error
  }
}

function describeUnknown(place: string): UpshotError {
  return new UpshotError('store_unavailable', `The database ${place} failed over during a commit.`, {
    details: { reason: 'unreachable', fix: 'Look whether it was written, and do it again if it was not.' },
  })
}

/** Begins a transaction, and gives its number and era. Both statements are one message. */
async function begin(client: Client): Promise<Begun> {
  const results: unknown = await client.query('BEGIN; SELECT pg_current_xact_id()::text AS xid, era_1() AS era')
  const [, { rows }] = results as [unknown, { rows: { xid: string; era: string }[] }]
  return rows[0] ?? { xid: '', era: '' }
}
