import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApp } from '../processes/app-process.ts'
import { judge, median, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

/** Start and idle memory of `npm start`, with the sandbox and the samples. */
export const appProcess: Suite = {
  names: ['process.readyMs', 'process.readyCpuMs', 'process.firstReadyMs', 'process.idleMb', 'process.modules'],
  run: runProcess,
}

const SAMPLES = join(import.meta.dirname, '../../workflows')
const LIST_MODULES = join(import.meta.dirname, '../processes/list-modules.js')
/** Most modules of a start, on all threads. */
const MODULES = 1_250
/** Time after the start in which the first runs end, and the app frees what its start took. */
const SETTLE_MS = 16_000

async function runProcess(bench: Bench): Promise<Result[]> {
  const rounds = bench.isQuick ? 3 : 7
  const first: number[] = []
  const again: number[] = []
  const cpu: number[] = []
  const idle: number[] = []
  let modules: number[] = []
  for (let round = 0; round < rounds; round++) {
    await bench.patience.waitForCalm()
    const root = mkdtempSync(join(bench.folder, 'app-'))
    // The first start of a project compiles everything, and makes the sandbox.
    first.push((await measure(root)).readyMs)
    const { readyMs, cpuMs } = await measure(root, round === rounds - 1 ? idle : undefined)
    again.push(readyMs)
    cpu.push(cpuMs)
    if (round === 0) modules = await countModules(root)
  }
  const threads = ['main', 'writer', 'engine'].map((name, thread) => `${name} ${modules[thread]}`)
  bench.say(`  ${rounds} first starts, and one more of each; modules by thread: ${threads.join(', ')}`)
  return [
    judge('process.readyMs', median(again), 'ms', { atMost: 800 }),
    judge('process.readyCpuMs', median(cpu), 'ms'),
    judge('process.firstReadyMs', median(first), 'ms'),
    judge('process.idleMb', median(idle), 'MB', { atMost: 175 }),
    judge(
      'process.modules',
      modules.reduce((all, each) => all + each, 0),
      'modules',
      { atMost: MODULES },
    ),
  ]
}

async function measure(root: string, idle?: number[]): Promise<{ readyMs: number; cpuMs: number }> {
  await using app = await startApp({ root, workflows: SAMPLES })
  const cpuMs = app.cpuMs()
  await sleep(idle ? SETTLE_MS : 0)
  idle?.push(app.residentMb())
  return { readyMs: app.readyMs, cpuMs }
}

/** Files of code that each thread of a start loads: the main thread, the writer and the engine. */
async function countModules(root: string): Promise<number[]> {
  const lists = join(root, 'modules')
  const environment = { UPSHOT_BENCH_MODULES: lists, NODE_OPTIONS: `--import=${LIST_MODULES}` }
  await using _app = await startApp({ root, workflows: SAMPLES, environment })
  const found = [0, 1, 2].map((thread) => new Set(readFileSync(`${lists}.${thread}`, 'utf8').trim().split('\n')))
  // The first one of each thread is its entry.
  const entries = ['app/main.js', 'writer-thread.ts', 'engine-thread-main.ts']
  return entries.map((entry) => found.find((files) => [...files][0]?.endsWith(entry))?.size ?? Number.NaN)
}
