import type { BrokenModule } from '../runs/workflow-record.ts'
import type { ReadStore } from './store.ts'

/** A running process of Upshot. Times are epoch milliseconds. */
export interface ProcessRecord {
  /** Made at its start. */
  id: string
  role: string
  pid: number
  version: string
  /** Address of its admin server on this machine. */
  adminUrl: string
  /** Empty in a process without a receiver. */
  receiverUrl: string
  startedAt: number
  seenAt: number
  /** Modules that it could not load, the first 50. */
  broken: readonly BrokenModule[]
}

/** A process writes its row this often. */
export const PROCESS_BEAT_MS = 10_000
/** A process that is silent for this long counts as gone. */
export const PROCESS_SILENCE_MS = 35_000

/** The modules that processes at work could not load, each fault once, and their processes. */
export async function listBrokenModules(
  store: Pick<ReadStore, 'listProcesses'>,
  now: number,
): Promise<(BrokenModule & { pids: number[] })[]> {
  const alive = (await store.listProcesses()).filter(({ seenAt }) => now - seenAt < PROCESS_SILENCE_MS)
  const found = alive.flatMap(({ pid, broken }) => broken.map((module) => ({ ...module, pid })))
  const faults = Map.groupBy(found, ({ file, reason }) => JSON.stringify([file, reason]))
  return [...faults.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const { pid, ...module } = first
    return [{ ...module, pids: [pid, ...others.map((other) => other.pid)] }]
  })
}
