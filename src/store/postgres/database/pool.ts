import pg from 'pg'
import { UpshotError } from '../../../core/errors.ts'
import { nameOf } from '../../connection.ts'
import { isLost } from './postgres-fault.ts'

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
  /** A call waits so many milliseconds for a session. Default: `answerMs`, and 8,000 at least. */
  waitMs?: number
  /** True: the server refuses each write of these sessions. Default false. */
  isReadOnly?: boolean
  /** True: no plan reads a whole table where an index answers. Default false. */
  prefersIndexes?: boolean
  /** Throws for a session that is not to be used. Default: {@link requirePrimary}. */
  accept?: (client: pg.Client, isStandby: boolean) => void | Promise<void>
}

/** A session takes this long to open at most, in milliseconds. */
const CONNECT_MS = 3_000
const ANSWER_MS = 4_000
/** Before an answer counts as lost, the server ends its statement. */
const STATEMENT_MARGIN_MS = 500
/** The server ends a session that stalls within a transaction. */
const STALLED_MS = 4_000
const WAIT_MS = 8_000
/** A connection without an answer to its goodbye is cut. */
const GOODBYE_MS = 1_000
/** From then on, the system asks an idle connection for a sign of life. */
const SILENT_MS = 10_000

/** A session of ours in the server; another one may get its number later. */
interface ServerSession {
  pid: number
  startedAt: string
}

/**
 * Ends sessions that wait for what a lost connection may still bring them. One at work is left
 * alone: ended while it waits for a standby, its commit would look done.
 */
const END_LOST = `SELECT pg_terminate_backend(pid, 1000)
  FROM pg_stat_activity JOIN unnest($1::int[], $2::text[]) AS lost (pid, started) USING (pid)
  WHERE backend_start = started::timestamptz AND (state LIKE 'idle%' OR wait_event = 'ClientRead')`

/** `bigint`, and the sums of them, are numbers here: ours stay below 2^53. */
const NUMBERS = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return NUMBERS.includes(oid) ? Number : pg.types.getTypeParser(oid, format as 'text')
  },
}

/**
 * Sessions with the first host that is accepted, each opened when it is first needed. Order of
 * waiting: first come, first served, but for calls that carry the work of many.
 */
export class Pool {
  readonly #options: PoolOptions
  readonly #idle: pg.Client[] = []
  readonly #waiting: (() => void)[] = []
  readonly #open = new Map<pg.Client, ServerSession | null>()
  /** Sessions whose connections were given up. */
  readonly #lost = new Set<ServerSession>()
  #taken = 0
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** True: the next caller waits for a session. */
  get isBusy(): boolean {
    return this.#taken >= this.#options.size
  }

  /** A session for the caller, who gives it back with `release`. `isFirst`: before all others. */
  async take(isFirst = false): Promise<pg.Client> {
    if (this.isBusy) await this.#wait(isFirst)
    else this.#taken += 1
    try {
      if (this.#isClosed) throw new UpshotError('store_unavailable', 'The store is closed.')
      return await this.#withoutLost(this.#idle.pop() ?? (await this.#connect()))
    } catch (error) {
      this.#pass()
      throw error
    }
  }

  /** `isSound` false: the session is not used again. */
  release(client: pg.Client, isSound: boolean): void {
    if (isSound && !this.#isClosed && this.#open.has(client)) this.#idle.push(client)
    else this.#giveUp(client)
    this.#pass()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#open.keys(), endSession))
  }

  async #wait(isFirst: boolean): Promise<void> {
    const { answerMs = ANSWER_MS, waitMs = Math.max(answerMs, WAIT_MS) } = this.#options
    const turn = Promise.withResolvers<void>()
    this.#waiting[isFirst ? 'unshift' : 'push'](turn.resolve)
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(turn.resolve), 1)
      turn.reject(Object.assign(new Error('no session was free in time'), { code: 'EBUSY' }))
    }, waitMs)
    await turn.promise.finally(() => clearTimeout(timer))
  }

  #pass(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken -= 1
  }

  #drop(client: pg.Client): void {
    this.#open.delete(client)
    void endSession(client)
  }

  #giveUp(client: pg.Client): void {
    const session = this.#open.get(client)
    if (session) this.#lost.add(session)
    this.#drop(client)
  }

  /**
   * A call is made again after the session that was given the first one is over. A network may
   * deliver that one late.
   */
  async #withoutLost(client: pg.Client): Promise<pg.Client> {
    const lost = [...this.#lost]
    if (lost.length === 0) return client
    try {
      await client.query(END_LOST, [lost.map(({ pid }) => pid), lost.map(({ startedAt }) => startedAt)])
    } catch (error) {
      if (isLost(error)) {
        this.#drop(client)
        throw error
      }
    }
    for (const session of lost) this.#lost.delete(session)
    return client
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
    const { accept = requirePrimary } = this.#options
    // A session that ends while it is idle is noticed at its next use.
    client.on('error', () => {
      const at = this.#idle.indexOf(client)
      if (at >= 0) this.#idle.splice(at, 1)
      else this.#giveUp(client)
      this.#open.delete(client)
    })
    // Before the client's own listener, which makes the rows of the statement by these names.
    client.connection.prependListener('rowDescription', ({ fields }: { fields: { name: string }[] }) => {
      for (const field of fields) if (field.name.includes('_')) field.name = nameOf(field.name)
    })
    try {
      await client.connect()
      const { rows } = await client.query<ServerSession & { isStandby: boolean; path: string }>(
        `SELECT pg_is_in_recovery() AS is_standby, current_setting('search_path') AS path, pid,
           backend_start::text AS started_at FROM pg_stat_get_activity(pg_backend_pid())`,
      )
      const [{ isStandby, path, pid, startedAt } = { isStandby: false, path: '', pid: 0, startedAt: '' }] = rows
      await accept(client, isStandby)
      if (path.replaceAll('"', '') !== this.#options.schema) throw describePooled(client, this.#options.schema, path)
      // Behind a pooler, the session is not ours alone.
      const isOwn = 'processID' in client && client.processID === pid
      this.#open.set(client, isOwn ? { pid, startedAt } : null)
    } catch (error) {
      void endSession(client)
      throw error
    }
    return client
  }
}

/** Says goodbye to the server. A network that swallows that keeps nobody waiting. */
export async function endSession(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS)
  await client.end().catch(() => {})
  clearTimeout(timer)
}

/** Passes over a standby. */
function requirePrimary(client: pg.Client, isStandby: boolean): void {
  if (isStandby) throw Object.assign(new Error(`${client.host} is a standby`), { code: '25006' })
}

/** A pooler may take the settings of a session and not pass them on. */
function describePooled({ host, user }: pg.Client, schema: string, path: string): UpshotError {
  return new UpshotError(
    'invalid_config',
    `The pooler at ${host} drops the settings of our sessions: their search_path is ${path}, and not ${schema}.`,
    { details: { fix: `On the server: ALTER ROLE ${user} SET search_path = ${schema}. See "Poolers" in the guide.` } },
  )
}

/** Roles and databases may have others, with which our SQL fails. A given timeout overrides. */
const SETTINGS =
  '-c jit=off -c synchronous_commit=on -c statement_timeout=0 -c standard_conforming_strings=on ' +
  '-c default_transaction_isolation=read\\ committed'

export function sessionSettings(options: PoolOptions): pg.ClientConfig {
  const { schema, answerMs = ANSWER_MS, isReadOnly = false, prefersIndexes = false } = options
  const only = isReadOnly ? ' -c default_transaction_read_only=on' : ''
  // Planners judge by statistics, which are missing after a restore and miss what just happened.
  const plans = prefersIndexes ? ' -c enable_seqscan=off -c enable_mergejoin=off' : ''
  return {
    application_name: 'upshot',
    keepAlive: true,
    keepAliveInitialDelayMillis: SILENT_MS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerMs,
    statement_timeout: Math.max(0, answerMs - STATEMENT_MARGIN_MS),
    idle_in_transaction_session_timeout: STALLED_MS,
    options: `-c search_path=${schema.replaceAll(/[\\ ]/g, '\\$&')} ${SETTINGS}${only}${plans}`,
  }
}
