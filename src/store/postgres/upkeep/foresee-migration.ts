import type pg from 'pg'
import { PROCESS_SILENCE_MS } from '../../../core/store/process-record.ts'
import { LIVE_PROCESSES, type MigrationForecast } from '../../rows/database-report.ts'
import { listMissing } from '../database/migrate.ts'

/** Statements of a migration that go through a table, or lock it. */
const CHANGES = /\b(?:ALTER TABLE|UPDATE|DELETE FROM|INSERT INTO|INDEX \w+ ON)\s+(\w+)/g

/** Says what a migration of a schema would do. It takes no lock that another session waits for. */
export async function foreseeMigration(client: pg.Client): Promise<MigrationForecast> {
  const { before, missing, sql } = await listMissing(client)
  const forecast = { before, after: before + missing.length, missing, tried: null }
  if (before === 0) return { ...forecast, processes: [], unfinished: 0, tables: [] }
  const since = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${PROCESS_SILENCE_MS}`
  const processes = await client.query(LIVE_PROCESSES.replace('?', since))
  const { rows: counted } = await client.query<{ runs: number }>('SELECT count(*)::int AS runs FROM work')
  const names = [...new Set([...sql.matchAll(CHANGES)].map(([, name]) => name))]
  const tables = await client.query(
    `SELECT given AS name, sum(greatest(reltuples, 0))::float8 AS rows,
       sum(pg_total_relation_size(relid))::float8 AS bytes
     FROM unnest($1::text[]) AS given, pg_partition_tree(to_regclass(given)) JOIN pg_class ON pg_class.oid = relid
     WHERE to_regclass(given) IS NOT NULL GROUP BY given ORDER BY bytes DESC`,
    [names],
  )
  return { ...forecast, processes: processes.rows, unfinished: counted[0]?.runs ?? 0, tables: tables.rows }
}
