import type pg from 'pg'

/** Facts of a server on which the safety of its rows and the speed of their changes rest. */
export interface ServerFacts {
  version: string
  /** False on a standby, or where a setting forbids writes. */
  takesWrites: boolean
  /** Our user has the rights of the app. */
  mayWrite: boolean
  /** Each commit waits for a standby. */
  isReplicated: boolean
  /** Each commit waits for the disk, and a page that was half written is repaired. */
  isDurable: boolean
  connections: { used: number; most: number }
  /** Age of the oldest transaction of our user, in seconds: vacuum keeps dead rows for it. */
  oldestTransactionS: number
  /** The server's clock minus the one of this machine, in milliseconds. */
  clockOffsetMs: number
}

interface Row extends Omit<ServerFacts, 'connections' | 'clockOffsetMs'> {
  used: number
  most: number
  now: number
}

/** Asks in a transaction, which a pooler may refuse. */
export async function inspectServer(client: pg.Client): Promise<ServerFacts> {
  await client.query('BEGIN')
  const askedAt = Date.now()
  const { rows } = await client.query<Row>(
    `SELECT current_setting('server_version') AS version,
       current_setting('transaction_read_only') = 'off' AS takes_writes,
       coalesce(has_table_privilege(to_regclass('write_probe'), 'UPDATE'), false) AS may_write,
       current_setting('synchronous_standby_names') <> '' AS is_replicated,
       current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' AS is_durable,
       (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       current_setting('max_connections')::int AS most,
       coalesce((SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()), 0)::float8 AS oldest_transaction_s,
       (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
  )
  const middle = (askedAt + Date.now()) / 2
  await client.query('COMMIT')
  const [{ used, most, now, ...facts }] = rows as [Row]
  return { ...facts, connections: { used, most }, clockOffsetMs: now - middle }
}
