import type { BrokenModule } from '../../runs/workflow-record.ts'
import { PROCESS_SILENCE_MS, type ProcessReads } from './processes.ts'

/** The modules that processes at work could not load, each fault once, and their processes. */
export async function listBrokenModules(
  store: Pick<ProcessReads, 'listProcesses'>,
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
