import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApp } from '../processes/app-process.ts'
import { judge, median, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

/** Start and idle memory of `npm start`, with the sandbox and the samples. */
export const appProcess: Suite = {
  names: ['process.readyMs', 'process.firstReadyMs', 'process.idleMb'],
  run: runProcess,
}

const SAMPLES = join(import.meta.dirname, '../../workflows')
/** Time after the start in which the first runs end, and the app frees what its start took. */
const SETTLE_MS = 16_000

async function runProcess(bench: Bench): Promise<Result[]> {
  const rounds = bench.isQuick ? 3 : 7
  const first: number[] = []
  const again: number[] = []
  const idle: number[] = []
  for (let round = 0; round < rounds; round++) {
    await bench.patience.waitForCalm()
    const root = mkdtempSync(join(bench.folder, 'app-'))
    // The first start of a project compiles everything, and makes the sandbox.
    first.push(await measure(root))
    again.push(await measure(root, round === rounds - 1 ? idle : undefined))
  }
  bench.say(`  ${rounds} first starts, and one more of each`)
  return [
    judge('process.readyMs', median(again), 'ms', { atMost: 800 }),
    judge('process.firstReadyMs', median(first), 'ms'),
    judge('process.idleMb', median(idle), 'MB', { atMost: 175 }),
  ]
}

async function measure(root: string, idle?: number[]): Promise<number> {
  await using app = await startApp({ root, workflows: SAMPLES })
  await sleep(idle ? SETTLE_MS : 0)
  idle?.push(app.residentMb())
  return app.readyMs
}
