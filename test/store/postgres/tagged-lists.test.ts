import type pg from 'pg'
import { expect, test } from 'vitest'
import type { RunFilter } from '../../../src/core/runs/run.ts'
import { countRowsRead } from './support/count-rows-read.ts'
import { openWithClient } from './support/open-with-client.ts'

const MANY = 20_000

/** Completed runs of one workflow, each with the same tag. */
async function fill(client: pg.Client): Promise<void> {
  await client.query(
    `WITH made AS (INSERT INTO run (id, workflow, created_at)
       SELECT 'run_' || lpad(n::text, 23, '0'), 'w1', 1 FROM generate_series(1, ${MANY}) AS n RETURNING id),
     ended AS (INSERT INTO outcome (run_id, workflow, status, rank, fence, attempt, started_at, finished_at, output)
       SELECT id, 'w1', 'completed', 0, 1, 0, 1, 1, 'null' FROM made)
     INSERT INTO run_tag (run_id, name, value) SELECT id, 'region', 'r3' FROM made`,
  )
  await client.query('ANALYZE')
}

test('a page of tagged runs with a status reads no more runs than it shows', async () => {
  const { store, client } = await openWithClient()
  await fill(client)
  const counts = countRowsRead()
  const filter: RunFilter = { tags: [['region', 'r3']], status: 'completed', workflow: 'w1' }
  const { items } = await store.searchRuns(filter, { rows: 5_000, limit: 50, after: null })
  expect(items).toHaveLength(50)
  const read = counts.flatMap(({ rows }) => Object.entries(rows).filter(([table]) => /^(run|outcome)_\w*$/.test(table)))
  const runs = read.filter(([table]) => !table.startsWith('run_tag') && !table.startsWith('run_progress'))
  expect(runs.length).toBeGreaterThan(0)
  expect(Math.max(...runs.map(([, rows]) => rows))).toBeLessThanOrEqual(200)
})
