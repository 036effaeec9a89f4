import { statSync } from 'node:fs'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPE } from '../deliveries.ts'
import { deliver } from '../load/paced-deliveries.ts'
import type { AppProcess } from '../processes/app-process.ts'
import { judge, median, percentile, type Result } from '../report/result.ts'
import { startBelt } from './app-belt.ts'
import type { Bench, Suite } from './suite.ts'

/**
 * A day of 1.2 million events in twenty minutes, through the whole app. Its last windows are
 * compared with those after the warm-up.
 */
export const day: Suite = {
  names: ['day.memoryVsStart', 'day.p99VsStart', 'day.bytesVsStart', 'day.p99Ms', 'day.bytesPerEvent'],
  isSlow: true,
  run: runDay,
}

const TICK_MS = 10
const WINDOWS = 20
/** Windows that are compared at each end. The first ones warm up. */
const WARM = 2
const COMPARED = 6

interface Window {
  residentMb: number
  p99Ms: number
  bytesPerEvent: number
}

async function runDay(bench: Bench): Promise<Result[]> {
  const perSecond = bench.isQuick ? 200 : 1_000
  const windowMs = bench.isQuick ? 1_500 : 60_000
  const { app, file } = await startBelt(bench)
  await using _app = app
  const agent = new Agent({ keepAlive: true })
  const windows: Window[] = []
  for (let each = 0; each < WINDOWS; each++) {
    const before = bytesOf(file)
    const times = await sendSteadily(app, agent, { perSecond, ms: windowMs })
    const bytesPerEvent = (bytesOf(file) - before) / times.length
    windows.push({ residentMb: app.residentMb(), p99Ms: percentile(times, 0.99), bytesPerEvent })
  }
  agent.destroy()
  const early = windows.slice(WARM, WARM + COMPARED)
  const late = windows.slice(-COMPARED)
  const of = (part: Window[], name: keyof Window) => median(part.map((window) => window[name]))
  const ratio = (name: keyof Window) => of(late, name) / of(early, name)
  const resident = windows.map(({ residentMb }) => Math.round(residentMb))
  bench.say(`  ${perSecond} events/s for ${(WINDOWS * windowMs) / 60_000} minutes; resident MB: ${resident.join(' ')}`)
  return [
    judge('day.memoryVsStart', ratio('residentMb'), 'ratio', { atMost: 1.1 }),
    judge('day.p99VsStart', ratio('p99Ms'), 'ratio', { atMost: 1.3 }),
    judge('day.bytesVsStart', ratio('bytesPerEvent'), 'ratio', { atMost: 1.1 }),
    judge('day.p99Ms', of(late, 'p99Ms'), 'ms'),
    judge('day.bytesPerEvent', of(late, 'bytesPerEvent'), 'bytes'),
  ]
}

/** Size of a database without its log, which is written over again and again. */
function bytesOf(file: string): number {
  return statSync(file).size
}

/** Milliseconds from each request to its 200. A late tick sends what it has missed. */
async function sendSteadily(
  app: AppProcess,
  agent: Agent,
  { perSecond, ms }: { perSecond: number; ms: number },
): Promise<number[]> {
  const url = app.urls['endpoint service'] ?? ''
  const begunAt = performance.now()
  const times: Promise<number>[] = []
  for (let past = 0; past < ms; past = performance.now() - begunAt) {
    while (times.length < (past / 1_000) * perSecond) times.push(deliver(url, agent, EVENT_TYPE))
    await sleep(TICK_MS)
  }
  return Promise.all(times)
}
