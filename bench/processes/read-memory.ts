import { readFileSync } from 'node:fs'

/**
 * Memory of a process in MiB: now (`VmRSS`), or the most since it began (`VmHWM`). The kernel's
 * `maxRSS` would also count the memory of the parent, as it was when the child began.
 */
export function readMemory(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}
