import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'
import { listUnknownColumns } from '../../support/unknown-columns.ts'

test('each column of text or bytes is known as text of people, or as harmless', () => {
  const db = new Database(':memory:')
  migrate(db)
  const columns = db.prepare<[], { table: string; column: string }>(
    `SELECT tables.name AS "table", info.name AS "column"
     FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS info
     WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' AND info.type IN ('TEXT', 'BLOB', 'ANY')`,
  )
  expect(listUnknownColumns('event', columns.all())).toEqual({ unknown: [], gone: ['move.id'], twice: [] })
})
