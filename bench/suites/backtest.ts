import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prefillRecorded } from '../prefill/prefill-runs.ts'
import { type Goal, judge, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS = {
  runsPerSecond: { atLeast: 2_000 },
  ofReading: { atLeast: 0.15 },
  growthMb: { atMost: 300 },
} as const satisfies Record<string, Goal>

const CODE = fileURLToPath(new URL('../workflows/three-steps.ts', import.meta.url))

/**
 * Recorded runs that are played and compared: how many a second. How much memory they add to that
 * of the two processes.
 */
export const backtest: Suite = {
  names: ['backtest.runsPerSecond', 'backtest.ofReading', 'backtest.growthMb'],
  isSlow: true,
  run: runBacktest,
}

async function runBacktest(bench: Bench): Promise<Result[]> {
  const workflowsDir = join(bench.folder, 'backtest')
  mkdirSync(workflowsDir, { recursive: true })
  writeFileSync(join(workflowsDir, 'measured.workflow.ts'), `export { threeSteps as default } from '${CODE}'\n`)
  const file = join(bench.folder, 'backtest.db')
  prefillRecorded(file, bench.isQuick ? 20_000 : 1_000_000)
  await using target = bench.startTarget('backtest.ts')
  await bench.patience.waitForCalm()
  const readPerSecond = await target.call<number>('read', { file })
  const found = await target.call<Found>('compare', { file, workflowsDir })
  if (found.same !== found.runs) throw new Error(`${found.runs - found.same} of ${found.runs} runs differ`)
  bench.say(`  ${found.runs} runs: ${Math.round(found.runsPerSecond)}/s, ${Math.round(found.growthMb)} MB`)
  return [
    judge('backtest.runsPerSecond', found.runsPerSecond, 'runs/s', GOALS.runsPerSecond),
    judge('backtest.ofReading', found.runsPerSecond / readPerSecond, 'of reading alone', GOALS.ofReading),
    judge('backtest.growthMb', found.growthMb, 'MB', GOALS.growthMb),
  ]
}

interface Found {
  runs: number
  same: number
  runsPerSecond: number
  growthMb: number
}
