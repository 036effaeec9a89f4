import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type LogLine = Record<string, unknown>

/** JSON log lines of a process, and its end. */
export interface ProcessLog {
  /** The first line that fits, past or future. Rejects when the process ends without one. */
  line(fits: (line: LogLine) => boolean): Promise<LogLine>
  lines: LogLine[]
  /** Standard error so far. */
  errors(): string
  exited: Promise<{ code: number | null; signal: string | null }>
}

/** Follows a child process whose standard output and error are pipes. */
export function followLog(child: ChildProcess): ProcessLog {
  if (!child.stdout || !child.stderr) throw new Error('the process has no pipes')
  const lines: LogLine[] = []
  const listeners = new Set<(line: LogLine) => void>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    if (!text.startsWith('{')) return
    const line = JSON.parse(text)
    lines.push(line)
    for (const listener of listeners) listener(line)
  })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  return {
    lines,
    errors: () => errors,
    exited,
    line(fits) {
      const known = lines.find(fits)
      if (known) return Promise.resolve(known)
      return new Promise((resolve, reject) => {
        const listener = (line: LogLine) => {
          if (!fits(line)) return
          listeners.delete(listener)
          resolve(line)
        }
        listeners.add(listener)
        exited.then(() => reject(new Error(`the process ended without that line: ${errors}`)))
      })
    },
  }
}
