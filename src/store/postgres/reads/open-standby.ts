import type pg from 'pg'
import { UpshotError } from '../../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { IDENTITY, type Identity } from '../database/log-position.ts'
import { Pool, type PoolOptions } from '../database/pool.ts'
import { translateFault } from '../database/postgres-fault.ts'
import type { Tables } from '../tables.ts'
import { Standby } from './standby.ts'

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
      `UPSHOT_DATABASE_READ_URL names ${place}, which is no copy of the database in UPSHOT_DATABASE_URL.`,
      { details: { fix: 'Name a hot standby of that server, with the same database, or leave the variable out.' } },
    )
  }
  if (isStandby) return
  throw new UpshotError('store_unavailable', `The server of ${place} is no standby now.`, {
    details: { fix: 'Name a hot standby in UPSHOT_DATABASE_READ_URL: this one is a primary.' },
  })
}
