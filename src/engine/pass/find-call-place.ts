import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of this package's own code, whose frames are skipped. */
const OWN = resolve(import.meta.dirname, '../..')
const FRAME = /\(?((?:file:\/\/)?\/[^()]+|(?:file:\/\/\/)?[A-Za-z]:[^()]+):(\d+):(\d+)\)?$/

/** File, line and column of the author's code that calls; null where the stack does not tell. */
export function findCallPlace(): string | null {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 20
  const { stack = '' } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  for (const line of stack.split('\n').slice(1)) {
    const [, file, row, column] = FRAME.exec(line.trim()) ?? []
    if (file === undefined) continue
    const path = file.startsWith('file:') ? fileURLToPath(file) : file
    if (!path.startsWith(OWN) && !path.includes('node_modules')) {
      return `${relative(process.cwd(), path)}:${row}:${column}`
    }
  }
  return null
}
