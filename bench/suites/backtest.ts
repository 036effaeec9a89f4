import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prefillRecorded } from '../prefill/prefill-runs.ts'
import { timeCommand } from '../processes/run-command.ts'
import { type Goal, judge, median, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = {
  runsPerSecond: { atLeast: 2_000 },
  firstMs: { atMost: 2_000 },
  ofReading: { atLeast: 0.15 },
  growthMb: { atMost: 300 },
} as const satisfies Record<string, Goal>

/** A million runs take minutes, and four times as long on a busy machine. */
const WITHIN_MS = 3_600_000

const CODE = fileURLToPath(new URL('../workflows/three-steps.ts', import.meta.url))

/**
 * Recorded runs that are previewed and compared: how many a second. How much memory they add to
 * that of the two processes, and the time of the first ones.
 */
export const backtest: Suite = {
  names: [
    'backtest.runsPerSecond',
    'backtest.cpuMicros',
    'backtest.firstMs',
    'backtest.ofReading',
    'backtest.growthMb',
  ],
  isSlow: true,
  run: runBacktest,
}

async function runBacktest(bench: Bench): Promise<Result[]> {
  const workflowsDir = join(bench.folder, 'backtest')
  mkdirSync(workflowsDir, { recursive: true })
  writeFileSync(join(workflowsDir, 'measured.workflow.ts'), `export { threeSteps as default } from '${CODE}'\n`)
  const file = join(workflowsDir, 'upshot.db')
  prefillRecorded(file, bench.isQuick ? 20_000 : 1_000_000)
  const firstMs = await timeFirst(bench, workflowsDir)
  await using target = bench.startTarget('backtest.ts')
  await bench.patience.waitForCalm()
  const readPerSecond = await target.call<number>('read', { file }, WITHIN_MS)
  const found = await target.call<Found>('compare', { file, workflowsDir }, WITHIN_MS)
  if (found.same !== found.runs) throw new Error(`${found.runs - found.same} of ${found.runs} runs differ`)
  bench.say(`  ${found.runs} runs: ${Math.round(found.runsPerSecond)}/s, ${Math.round(found.growthMb)} MB`)
  return [
    judge('backtest.runsPerSecond', found.runsPerSecond, 'runs/s', GOALS.runsPerSecond),
    judge('backtest.cpuMicros', found.cpuMicros, 'us/run'),
    judge('backtest.firstMs', firstMs, 'ms', GOALS.firstMs),
    judge('backtest.ofReading', found.runsPerSecond / readPerSecond, 'of reading alone', GOALS.ofReading),
    judge('backtest.growthMb', found.growthMb, 'MB', GOALS.growthMb),
  ]
}

/** The whole command for a page of runs, which is what comes first of many. */
async function timeFirst(bench: Bench, folder: string): Promise<number> {
  const window = ['--since', '1970-01-01', '--limit', '64']
  const args = ['backtest', 'measured', '--workflows', folder, ...window]
  // The first start compiles everything.
  await timeCommand(folder, folder, args)
  await bench.patience.waitForCalm()
  const times: number[] = []
  for (let n = 0; n < 5; n++) times.push((await timeCommand(folder, folder, args)).endMs)
  return median(times)
}

interface Found {
  runs: number
  same: number
  runsPerSecond: number
  cpuMicros: number
  growthMb: number
}
