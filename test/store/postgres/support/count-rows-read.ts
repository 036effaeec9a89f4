import pg from 'pg'
import { onTestFinished, vi } from 'vitest'

/** Rows that one statement read, by scans and by indexes. */
export interface RowsRead {
  text: string
  /** By table or index. */
  rows: Record<string, number>
}

const READ = `SELECT relname AS name, seq_tup_read + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_xact_user_tables
  WHERE schemaname = current_schema()`

/** Counts what each statement of this process reads from now on, functions included. */
export function countRowsRead(): RowsRead[] {
  return countReads(READ)
}

/** The same for entries of these indexes, those of dead rows included. */
export function countEntriesRead(indexes: readonly string[]): RowsRead[] {
  const names = indexes.map((name) => `'${name}'`)
  return countReads(`SELECT relname AS name, pg_stat_get_xact_tuples_returned(oid) AS rows FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname IN (${names})`)
}

function countReads(sql: string): RowsRead[] {
  const counts: RowsRead[] = []
  const inTransaction = new WeakSet<pg.Client>()
  const query = pg.Client.prototype.query as (this: pg.Client, ...args: unknown[]) => Promise<pg.QueryResult>
  const readCounts = async (client: pg.Client) => {
    const { rows } = await query.call(client, sql)
    return new Map(rows.map(({ name, rows: read }: { name: string; rows: unknown }) => [name, Number(read)]))
  }
  const measure = async (client: pg.Client, text: string, args: unknown[]) => {
    const before = await readCounts(client)
    const result = await query.apply(client, args)
    const after = await readCounts(client)
    const rows = [...after].map(([name, read]) => [name, read - (before.get(name) ?? 0)] as const)
    counts.push({ text, rows: Object.fromEntries(rows.filter(([, read]) => read > 0)) })
    return result
  }
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(async function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const [first] = args as [string | { text: string }]
    const text = typeof first === 'string' ? first : first.text
    if (/^\s*(BEGIN|COMMIT|ROLLBACK)/.test(text)) {
      if (/^\s*BEGIN/.test(text)) inTransaction.add(this)
      else inTransaction.delete(this)
      return query.apply(this, args)
    }
    if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/.test(text)) return query.apply(this, args)
    if (inTransaction.has(this)) return measure(this, text, args)
    // Outside of a transaction, the server may give its counts away at any moment.
    await query.call(this, 'BEGIN')
    try {
      return await measure(this, text, args)
    } finally {
      await query.call(this, 'COMMIT')
    }
  } as never)
  onTestFinished(() => spy.mockRestore())
  return counts
}
