import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { queueRun } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { openTestStore } from '../../support/test-store.ts'
import { define } from '../../support/workflows.ts'
import { openTestMetrics } from '../../watch/support/open-test-metrics.ts'
import { openTestTracing } from '../../watch/support/open-test-tracing.ts'

/** The tables that each run writes. */
const TABLES = ['event', 'delivery', 'run', 'work', 'outcome', 'step']
/** Their indexes and triggers that runs need; all others are for questions of an operator. */
const FOR_RUNS = [
  'event_identity',
  'delivery_repeat',
  'delivery_refused',
  'step_delete',
  'full_run',
  'run_caused',
  'run_invoked',
  'run_origin',
  'work_ready',
  'work_suspect',
  'work_waiting',
  'work_leased',
  'outcome_folded',
  'work_untimed',
  'work_paused',
  'work_ticking',
]

const three = define('three', { on: 'file.created' }, async ({ step }) => {
  for (const name of ['read', 'pay', 'tell']) await step.run(name, () => ({ done: name }))
})

interface Load {
  inFlight: number
  runs: number
  /** False: no index for operators, and nobody counts, traces or scrapes. */
  isWatched: boolean
}

/** Bytes that the log of the database grows by for each run of three steps. */
async function logBytesPerRun({ inFlight, runs, isWatched }: Load): Promise<number> {
  const store = openTestStore()
  const file = join(store.folder, 'upshot.db')
  const db = new Database(file)
  onTestFinished(() => void db.close())
  if (!isWatched) dropForOperators(db)
  // Pages that were freed would be used anew, and written as such.
  db.exec('VACUUM')
  db.pragma('wal_checkpoint(TRUNCATE)')
  const engine = createTestEngine(store)
  const { metrics } = openTestMetrics({ store })
  const { tracing, sent } = openTestTracing()
  if (isWatched) engine.notices.subscribe('*', (notice) => [metrics.count(notice), tracing.trace(notice)])
  const worker = await engine.start([three], { slots: inFlight })
  // A reader keeps the log from beginning anew, so that its size is all that was written.
  db.exec('BEGIN; SELECT count(*) FROM run')
  for (let done = 0; done < runs; done += inFlight) {
    const ended = countEnds(engine, inFlight)
    for (let n = 0; n < inFlight; n++) await queueRun(store, `evt_${done + n}`, 'three')
    worker.wake()
    await ended
  }
  expect(sent).toHaveLength(isWatched ? runs * 4 : 0)
  if (isWatched) await metrics.scrape('')
  return statSync(`${file}-wal`).size / runs
}

function dropForOperators(db: Database.Database): void {
  const kinds = db.prepare<[], { type: string; name: string; table: string }>(
    `SELECT type, name, tbl_name AS "table" FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL`,
  )
  const others = kinds.all().filter(({ name, table }) => TABLES.includes(table) && !FOR_RUNS.includes(name))
  expect(others.map(({ name }) => name)).toEqual(expect.arrayContaining(['outcome_failed', 'outcome_resolved']))
  for (const { type, name } of others) db.exec(`DROP ${type} ${name}`)
}

/** Resolves with the last of so many ends. */
function countEnds({ notices }: ReturnType<typeof createTestEngine>, runs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = runs
  const stop = notices.subscribe('run.completed', () => {
    left -= 1
    if (left > 0) return
    stop()
    resolve()
  })
  return promise
}

test.each([
  { inFlight: 1, runs: 20 },
  { inFlight: 24, runs: 48 },
])('a run that goes well, of $inFlight at a time, writes as much log for operators as without them', async (load) => {
  const bare = await logBytesPerRun({ ...load, isWatched: false })
  const watched = await logBytesPerRun({ ...load, isWatched: true })
  expect(bare).toBeGreaterThan(10_000)
  expect(Math.abs(watched / bare - 1)).toBeLessThanOrEqual(0.005)
})
