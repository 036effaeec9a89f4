import { readFileSync } from 'node:fs'

/** Processor time of a process so far. The kernel counts in hundredths of a second. */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
