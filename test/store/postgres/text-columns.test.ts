import pg from 'pg'
import { expect, test } from 'vitest'
import { takeCleanSchema } from '../../support/clean-schema.ts'
import { listUnknownColumns } from '../../support/unknown-columns.ts'

test('each column of text or bytes is known as text of people, or as harmless', async () => {
  const { url, schema } = await takeCleanSchema()
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT relname AS "table", attname AS "column" FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0
       AND NOT attisdropped AND atttypid IN ('text'::regtype, 'bytea'::regtype, 'json'::regtype, 'jsonb'::regtype)`,
    [schema],
  )
  await client.end()
  expect(listUnknownColumns('event_body', rows)).toMatchObject({ unknown: [], twice: [] })
})
