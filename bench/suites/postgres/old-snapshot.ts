import pg from 'pg'
import { type Goal, judge, type Result } from '../../report/result.ts'
import { inTurn } from '../../report/rounds.ts'
import type { Bench } from '../suite.ts'
import { type BenchServer, startServer } from './bench-server.ts'
import { fillPending } from './rows.ts'

const GOALS = { oldSnapshotMark: { atLeast: 1.5 } } as const satisfies Record<string, Goal>

const RUNS = 20_000
/** Runs that have ended since the snapshot. */
const ENDED = 300_000
/** Runs that each worker executes before, so that it has compiled what it runs. */
const FIRST = 1_000
const WORKERS = [1, 4] as const
const RIVALS = ['marked', 'unmarked'] as const
type Rival = (typeof RIVALS)[number]

/** The gain of the mark at which a claim begins, while a report holds an old snapshot. */
export async function measureOldSnapshot(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  const ratios: number[] = []
  for (const [round, workers] of WORKERS.entries()) {
    const rates = {} as Record<Rival, number>
    for (const rival of inTurn(RIVALS, round)) rates[rival] = await drain(bench, server, { rival, workers })
    ratios.push(rates.marked / rates.unmarked)
    bench.say(
      `  runs/s of ${workers} under an old snapshot: ${Math.round(rates.marked)} with a mark, ` +
        `${Math.round(rates.unmarked)} without`,
    )
  }
  return [judge('postgres.oldSnapshotMark', Math.min(...ratios), 'ratio', GOALS.oldSnapshotMark)]
}

/** Runs per second of workers that execute all pending runs, none of whose dead rows may go. */
async function drain(
  bench: Bench,
  server: BenchServer,
  { rival, workers }: { rival: Rival; workers: number },
): Promise<number> {
  const schema = `${rival}_${workers}`
  await using targets = new AsyncDisposableStack()
  const started = Array.from({ length: workers }, () => targets.use(bench.startTarget('stores.ts')))
  // One after the other, because the first one makes the schema.
  for (const target of started) await target.call('open', { urls: [server.url], schema })
  await fillPending(server, schema, FIRST * workers + ENDED + RUNS)
  const drainAll = async (runs: number | null) => {
    const order = { isMarked: rival === 'marked', runs }
    const ended = await Promise.all(started.map((target) => target.call<number>('drain', order)))
    return ended.reduce((sum, each) => sum + each, 0)
  }
  await drainAll(FIRST)
  const report = targets.adopt(new pg.Client(server.url), (client) => client.end())
  await report.connect()
  await report.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1')
  await server.query(
    `DELETE FROM ${schema}.work WHERE run_id IN (SELECT run_id FROM ${schema}.work ORDER BY run_id LIMIT ${ENDED})`,
  )
  await bench.patience.waitForCalm()
  const begunAt = performance.now()
  const ended = await drainAll(null)
  const seconds = (performance.now() - begunAt) / 1_000
  if (ended !== RUNS) throw new Error(`${ended} runs have ended instead of ${RUNS}`)
  return ended / seconds
}
