import Database from 'better-sqlite3'
import pg from 'pg'
import type { StorePlace } from './open-store.ts'

/** A database past the store, of which some statements are the same on both. */
interface Rows {
  /** Rows of a statement; none for one that gives none. */
  query<Row>(sql: string): Promise<Row[]>
  close(): Promise<void>
}

/** Opens a database that is there. Writing past the store takes no part in a result. */
export async function openRows(place: StorePlace): Promise<Rows> {
  if ('file' in place) {
    const db = new Database(place.file, { timeout: 30_000 })
    return {
      async query<Row>(sql: string) {
        const statement = db.prepare<[], Row>(sql)
        if (statement.reader) return statement.all()
        statement.run()
        return []
      },
      close: async () => void db.close(),
    }
  }
  const client = new pg.Client({ connectionString: place.urls[0], options: `-c search_path=${place.schema}` })
  await client.connect()
  return {
    query: async <Row>(sql: string) => (await client.query(sql)).rows as Row[],
    close: () => client.end(),
  }
}
