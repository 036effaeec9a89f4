import pg from 'pg'
import { UpshotError } from '../../../core/errors.ts'

export interface PoolOptions {
  /** One for each host of the database, in the order in which they are tried. */
  hosts: readonly pg.ClientConfig[]
  schema: string
  /** Most connections. */
  size: number
  /**
   * A statement without an answer for so many milliseconds counts as lost; 0: none does. Default
   * 4,000, which is short enough to find another way while a sender waits.
   */
  answerMs?: number
  /** True: the server refuses each write of these sessions. Default false. */
  isReadOnly?: boolean
}

/** A session takes this long to open at most, in milliseconds. */
const CONNECT_MS = 3_000
const ANSWER_MS = 4_000
/** Before an answer counts as lost, the server ends its statement. */
const STATEMENT_MARGIN_MS = 500
/** The server ends a session that stalls within a transaction. */
const STALLED_MS = 4_000

/** `bigint`, and the sums of them, are numbers here: ours stay below 2^53. */
const NUMBERS = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return NUMBERS.includes(oid) ? Number : pg.types.getTypeParser(oid, format as 'text')
  },
}

/**
 * Sessions with the primary, each opened when it is first needed. A standby is passed over. Order
 * of waiting: first come, first served.
 */
export class Pool {
  readonly #options: PoolOptions
  readonly #idle: pg.Client[] = []
  readonly #waiting: (() => void)[] = []
  readonly #open = new Set<pg.Client>()
  #taken = 0
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** A session for the caller alone, who gives it back with `release`. */
  async take(): Promise<pg.Client> {
    if (this.#taken >= this.#options.size) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#taken += 1
    try {
      if (this.#isClosed) throw new UpshotError('store_unavailable', 'The store is closed.')
      return this.#idle.pop() ?? (await this.#connect())
    } catch (error) {
      this.#pass()
      throw error
    }
  }

  /** `isSound` false: the session is not used again. */
  release(client: pg.Client, isSound: boolean): void {
    if (isSound && !this.#isClosed && this.#open.has(client)) this.#idle.push(client)
    else this.#drop(client)
    this.#pass()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#open].map((client) => client.end().catch(() => {})))
  }

  #pass(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken -= 1
  }

  #drop(client: pg.Client): void {
    this.#open.delete(client)
    client.end().catch(() => {})
  }

  async #connect(): Promise<pg.Client> {
    let fault: unknown = null
    for (const host of this.#options.hosts) {
      try {
        return await this.#connectTo(host)
      } catch (error) {
        fault = error
      }
    }
    throw fault
  }

  async #connectTo(host: pg.ClientConfig): Promise<pg.Client> {
    const client = new pg.Client({ ...host, ...sessionSettings(this.#options), types })
    // A session that ends while it is idle is noticed at its next use.
    client.on('error', () => {
      this.#open.delete(client)
      const at = this.#idle.indexOf(client)
      if (at >= 0) this.#idle.splice(at, 1)
    })
    try {
      await client.connect()
      const { rows } = await client.query<{ isStandby: boolean; path: string }>(
        `SELECT pg_is_in_recovery() AS "isStandby", current_setting('search_path') AS path`,
      )
      const [{ isStandby, path } = { isStandby: false, path: '' }] = rows
      if (isStandby) throw Object.assign(new Error(`${client.host} is a standby`), { code: '25006' })
      if (path.replaceAll('"', '') !== this.#options.schema) throw describePooled(client, this.#options.schema, path)
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
    this.#open.add(client)
    return client
  }
}

/** A pooler may take the settings of a session and not pass them on. */
function describePooled({ host, user }: pg.Client, schema: string, path: string): UpshotError {
  return new UpshotError(
    'invalid_config',
    `The pooler at ${host} drops the settings of our sessions: their search_path is ${path}, and not ${schema}.`,
    { details: { fix: `On the server: ALTER ROLE ${user} SET search_path = ${schema}. See "Poolers" in the guide.` } },
  )
}

/** Settings of every session of ours. */
export function sessionSettings(options: PoolOptions): pg.ClientConfig {
  const { schema, answerMs = ANSWER_MS, isReadOnly = false } = options
  const only = isReadOnly ? ' -c default_transaction_read_only=on' : ''
  return {
    application_name: 'upshot',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerMs,
    statement_timeout: Math.max(0, answerMs - STATEMENT_MARGIN_MS),
    idle_in_transaction_session_timeout: STALLED_MS,
    options: `-c search_path=${schema.replaceAll(/[\\ ]/g, '\\$&')} -c jit=off -c synchronous_commit=on${only}`,
  }
}
