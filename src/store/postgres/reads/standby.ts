import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { UpshotError } from '../../../core/errors.ts'
import { LIST_READS, type ListReads } from '../../../core/store/store.ts'
import type { OpenLists, StandbyChange } from '../../shared-store.ts'
import type { Database } from '../database/database.ts'
import { IDENTITY, type Identity, type LogEnd } from '../database/log-position.ts'
import { Pool, type PoolOptions } from '../database/pool.ts'
import { translateFault } from '../database/postgres-fault.ts'
import type { Tables } from '../tables.ts'
import { createListReads } from './reader.ts'

/** More milliseconds that a list waits, for a host that may swallow everything. */
const SILENT_MS = 500
/** Between two looks at a standby that was left, in milliseconds. */
const AGAIN_MS = 2_000
/** Most milliseconds between two looks at the log; the first pause is short. */
const MAX_PAUSE_MS = 40

interface StandbyParts {
  primary: Database<Tables>
  copy: Database<Tables>
  behindMs: number
}

type Report = (change: StandbyChange) => void

/**
 * Has a standby answer lists once it has replayed all that was committed when they were asked. The
 * primary answers in its place, with no error, while it is behind or gone. See decision 89.
 */
export class Standby {
  /** A standby that takes longer to catch up is behind. */
  readonly #behindMs: number
  readonly #primary: Database<Tables>
  readonly #copy: Database<Tables>
  readonly #ownReads: ListReads
  /** When the primary took over; null: the standby answers. */
  #leftAt: number | null = null
  #triedAt = 0
  #isTrying = false
  /** Whether this user has been seen to read each list there. */
  #isProven = false
  #isClosed = false

  constructor({ primary, copy, behindMs }: StandbyParts) {
    this.#behindMs = behindMs
    this.#primary = primary
    this.#copy = copy
    this.#ownReads = createListReads(primary)
  }

  readonly openLists: OpenLists = async (report) => {
    if (this.#leftAt !== null) {
      void this.#tryAgain(this.#leftAt, report)
      return this.#ownReads
    }
    let end: LogEnd
    try {
      end = await this.#primary.read((t) => t.logPosition.end())
    } catch (error) {
      // A primary that is gone says so itself. Other servers do not tell the end of their log.
      if (!(error instanceof UpshotError)) this.#leave(error, report)
      return this.#ownReads
    }
    try {
      await inTime(this.#reach(end), this.#behindMs + SILENT_MS)
      return this.#readsOf(end, report)
    } catch (error) {
      this.#leave(error, report)
      return this.#ownReads
    }
  }

  /** Resolves once the standby has what the primary has now. Gives the milliseconds it took. */
  async catchUp(): Promise<number> {
    const end = await this.#primary.read((t) => t.logPosition.end())
    const startedAt = performance.now()
    await this.#reach(end)
    return performance.now() - startedAt
  }

  async #reach(end: LogEnd): Promise<void> {
    await this.#copy.read((t) => this.#wait(t, end))
    await this.#prove()
  }

  /** Resolves once the server of a session has what was before `end`. */
  async #wait({ logPosition }: Tables, end: LogEnd): Promise<void> {
    const until = performance.now() + this.#behindMs
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const { isReplayed, isSameLine } = await logPosition.hasReached(end)
      if (isReplayed && isSameLine) return
      if (performance.now() > until) throw isReplayed ? describeOther() : describeBehind(this.#behindMs)
      await sleep(pauseMs)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#copy.close()
  }

  /** Reads one row of each list, for a user may have fewer rights than the lists need. */
  async #prove(): Promise<void> {
    if (this.#isProven) return
    const slice = { rows: 1, limit: 1, after: null }
    const reads = createListReads(this.#copy)
    await Promise.all([
      reads.searchRuns({}, slice),
      reads.listRuns({ limit: 1 }),
      reads.listEventsOf('run', ['']),
      reads.groupFailures({}, slice),
      reads.listFailureStates(['']),
      reads.searchEvents({}, slice),
      reads.listDeliveries({ limit: 1 }),
      reads.listEndpointNames(),
      reads.searchEffects({}, slice),
      reads.pageEffects({ beyond: null, limit: 1 }),
      reads.listActions({ limit: 1 }),
    ])
    this.#isProven = true
  }

  async #tryAgain(leftAt: number, report: Report): Promise<void> {
    if (this.#isTrying || performance.now() - this.#triedAt < AGAIN_MS) return
    this.#isTrying = true
    try {
      await this.catchUp()
      this.#leftAt = null
      report({ kind: 'back', ms: Math.round(performance.now() - leftAt) })
    } catch {
      // The line that said why is in the log already.
    } finally {
      this.#triedAt = performance.now()
      this.#isTrying = false
    }
  }

  #leave(error: unknown, report: Report): void {
    if (this.#leftAt !== null || this.#isClosed) return
    this.#leftAt = this.#triedAt = performance.now()
    this.#isProven = false
    report({ kind: 'left', why: error instanceof Error ? error.message : String(error) })
  }

  /**
   * The reads of the standby, each of which the primary answers where that one fails. Behind one
   * address may be several standbys, so that each session is asked how far it is.
   */
  #readsOf(end: LogEnd, report: Report): ListReads {
    const copyReads = createListReads(this.#copy, (tables) => this.#wait(tables, end))
    const reads = LIST_READS.map((name) => {
      const [ask, askPrimary] = [copyReads[name], this.#ownReads[name]] as ((...args: unknown[]) => Promise<unknown>)[]
      const read = async (...args: unknown[]) => {
        try {
          return await ask?.(...args)
        } catch (error) {
          if (error instanceof UpshotError && error.code !== 'store_unavailable') throw error
          if (!isConflict(error)) this.#leave(error, report)
          return askPrimary?.(...args)
        }
      }
      return [name, read]
    })
    return Object.fromEntries(reads)
  }
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(describeSilent(ms)), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Replay removes rows that a statement reads: that statement ends, and the standby is sound. */
function isConflict(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null
  return cause instanceof Error && 'code' in cause && (cause.code === '40001' || cause.code === '40P01')
}

function describeBehind(ms: number): UpshotError {
  return new UpshotError('store_unavailable', `The standby is more than ${ms} ms behind the primary.`, {
    details: { fix: 'Check its replay: a long statement there delays it, or its connection is slow.' },
  })
}

function describeOther(): UpshotError {
  return new UpshotError('store_unavailable', 'The standby does not follow the primary of today.', {
    details: { fix: 'After a failover, wait for its next checkpoint, or let it follow the new primary.' },
  })
}

function describeSilent(ms: number): UpshotError {
  return new UpshotError('store_unavailable', `The standby does not answer within ${ms} ms.`)
}

/** A statement on the standby counts as lost after so many milliseconds. */
const ANSWER_MS = 10_000

interface StandbyPlace extends Pick<PoolOptions, 'hosts' | 'schema' | 'size'> {
  /** Reads for people on the primary. */
  primary: Database<Tables>
  /** Opens the tables in sessions of a pool, whose calls are not repeated. */
  openDatabase: (pool: Pool) => Database<Tables>
  behindMs: number
}

/**
 * The standby that answers lists. Throws `invalid_config` where a host has another database; one
 * that does not answer is asked again later.
 */
export async function openStandby({ primary, openDatabase, behindMs, ...place }: StandbyPlace): Promise<Standby> {
  let known: Promise<Identity> | null = null
  const accept = async (client: pg.Client, isStandby: boolean) => {
    known ??= primary.read((t) => t.logPosition.identity())
    const own = await known.catch((error: unknown) => {
      known = null
      throw error
    })
    await requireCopy(client, { own, isStandby })
  }
  const options = { ...place, isReadOnly: true, prefersIndexes: true, answerMs: ANSWER_MS, accept }
  await checkHosts(options)
  return new Standby({ primary, copy: openDatabase(new Pool(options)), behindMs })
}

/** Asks every host, since sessions pass over one that is no copy. */
async function checkHosts(options: PoolOptions): Promise<void> {
  const checks = options.hosts.map(async (host) => {
    const pool = new Pool({ ...options, hosts: [host], size: 1 })
    try {
      pool.release(await pool.take(), true)
    } catch (error) {
      if (error instanceof UpshotError && error.code === 'invalid_config') throw error
    } finally {
      await pool.close()
    }
  })
  await Promise.all(checks)
}

/** Throws `invalid_config` for another database, and `store_unavailable` for a primary. */
async function requireCopy(
  client: pg.Client,
  { own, isStandby }: { own: Identity; isStandby: boolean },
): Promise<void> {
  const place = `${client.database} on ${client.host}:${client.port}`
  const { rows } = await client.query<Identity>(IDENTITY).catch((error: unknown) => {
    throw translateFault(error, place)
  })
  const [found] = rows
  if (found?.system !== own.system || found.database !== own.database) {
    throw new UpshotError(
      'invalid_config',
      `UPSHOT_DATABASE_READ_URL names ${place}, which is not a copy of the database in UPSHOT_DATABASE_URL.`,
      { details: { fix: 'Name a hot standby of that server, with the same database, or leave the variable out.' } },
    )
  }
  if (isStandby) return
  throw new UpshotError('store_unavailable', `The server of ${place} is not a standby now.`, {
    details: { fix: 'Name a hot standby in UPSHOT_DATABASE_READ_URL: this one is a primary.' },
  })
}
