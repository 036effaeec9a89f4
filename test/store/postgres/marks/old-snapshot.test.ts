import { expect, test } from 'vitest'
import { NOW } from '../../../support/fixtures.ts'
import { makeSchema } from '../../../support/postgres-store.ts'
import { countEntriesRead } from '../support/count-rows-read.ts'
import { openTwo } from '../support/open-two.ts'

const LIMIT = 10
const FEW = 100

/** Runs of one event; those of `waiting` are due. */
function fill(status: 'pending' | 'waiting'): string {
  return `
    INSERT INTO event (stream, seq, id, account, type, origin, created_at, received_at)
      VALUES (0, 8, 'evt_1', 'default', 'file.created', 'webhook', 1, 1);
    INSERT INTO run (id, workflow, event_seq, created_at)
      SELECT 'run_' || lpad(n::text, 23, '0'), 'follow-up', 8, 1 FROM generate_series(1, 2000) AS n;
    INSERT INTO work (run_id, workflow, status, due_at)
      SELECT 'run_' || lpad(n::text, 23, '0'), 'follow-up', '${status}', CASE '${status}' WHEN 'waiting' THEN n END
      FROM generate_series(1, 2000) AS n;
    ANALYZE event, run, work;`
}

test.each([
  ['pending', 'work_ready'],
  ['waiting', 'work_waiting'],
] as const)(
  'under an old snapshot, a claim of %s runs reads as much after 1,000 as after 100',
  async (status, index) => {
    const { one, session } = await openTwo(makeSchema())
    await session.query(fill(status))
    await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1')
    const counts = countEntriesRead(['work_ready', 'work_waiting', 'work_leased'])
    const read = async () => {
      counts.length = 0
      expect(await one.claimRuns('wrk_1', LIMIT, NOW)).toHaveLength(LIMIT)
      const entries = counts.flatMap(({ rows }) => Object.entries(rows))
      expect(entries.map(([name]) => name)).toContain(index)
      return entries.reduce((sum, [, read]) => sum + read, 0)
    }
    const reads = await Array.fromAsync({ length: (11 * FEW) / LIMIT }, read)
    // The claims at the head step over each claimed run.
    expect(reads[50]).toBeGreaterThan(50 * LIMIT)
    expect(reads[100]).toBeGreaterThan(100 * LIMIT)
    const behind = reads.filter((_, n) => n % 50 !== 0)
    // A claim that looks at due runs last moves no mark: the next one steps over its runs.
    expect(Math.max(...behind)).toBeLessThanOrEqual(2 * LIMIT + 1)
    await session.query('COMMIT')
  },
)
