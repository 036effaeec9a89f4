import { readFileSync } from 'node:fs'
import { backtest } from '../../src/app/backtest/backtest.ts'
import { readCases } from '../../src/app/backtest/read-cases.ts'
import { IsolatedProcess } from '../../src/app/preview/isolated-process.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import { openReadStore } from '../../src/store/open-store.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import { readCpuMs } from '../processes/read-cpu.ts'
import { readMemory } from '../processes/read-memory.ts'

const RULES = { readsLive: false, rerun: [], fixtures: {} }
const CHOICE = { workflow: 'measured', since: 0 }

/** `upshot backtest` over every run of a database, without the command line. */
async function compare({ file, workflowsDir }: { file: string; workflowsDir: string }) {
  const store = await openReadStore({ file, vaultKey: Buffer.alloc(32, 1) })
  const settings = { workflowsDir, guard: DEFAULT_POLICY, spellings: {} }
  await using isolated = await IsolatedProcess.open({ settings, store })
  const parts = { workflow: CHOICE.workflow, isolated, against: null, rules: RULES, withOutputs: false }
  await backtest(readCases(store, { ...CHOICE, limit: 500 }), parts)
  const [here, there] = [process.pid, childOf(process.pid)]
  const before = readMemory(here, 'VmRSS') + readMemory(there, 'VmRSS')
  const busyBefore = readCpuMs(here) + readCpuMs(there)
  const begunAt = performance.now()
  const { runs, same } = await backtest(readCases(store, CHOICE), parts)
  const seconds = (performance.now() - begunAt) / 1_000
  const cpuMicros = ((readCpuMs(here) + readCpuMs(there) - busyBefore) * 1_000) / runs
  const peak = readMemory(here, 'VmHWM') + readMemory(there, 'VmHWM')
  await store.close()
  return { runs, same, runsPerSecond: runs / seconds, cpuMicros, growthMb: peak - before }
}

/** The same runs read, and not previewed: the floor of the time. */
async function read({ file }: { file: string }) {
  const store = await openReadStore({ file, vaultKey: Buffer.alloc(32, 1) })
  const begunAt = performance.now()
  let runs = 0
  for await (const { cases } of readCases(store, CHOICE)) runs += cases.length
  await store.close()
  return runs / ((performance.now() - begunAt) / 1_000)
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
}

answerCalls({ compare, read })
