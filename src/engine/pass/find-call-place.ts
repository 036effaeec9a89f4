import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of this package's own code, whose frames are skipped. */
const OWN = resolve(import.meta.dirname, '../..')
const FRAME = /\(?((?:file:\/\/)?\/[^()]+|(?:file:\/\/\/)?[A-Za-z]:[^()]+):(\d+):(\d+)\)?$/
const AWAITING = /at async |processTicksAndRejections/

/** File, line and column of the author's code that calls; null where the stack does not tell. */
export function findCallPlace(): string | null {
  return placeOf(takeStack())
}

/**
 * Whether the engine itself begins an asynchronous operation, and the place of the author's code
 * otherwise. To be called in a hook of Node, whose own frames lie above those of the creator.
 */
export function findCreator(): { isOurs: boolean; place: string | null } {
  const lines = takeStack().split('\n').slice(1)
  const hook = lines.findIndex((line) => line.includes('node:'))
  const below = hook < 0 ? lines : lines.slice(hook)
  // Functions further down await this one and begin nothing themselves.
  const awaiting = below.findIndex((line) => AWAITING.test(line))
  const creator = below.slice(0, awaiting < 0 ? below.length : awaiting).find((line) => readFrame(line) !== null)
  const isOurs = creator !== undefined && (readFrame(creator)?.path.startsWith(OWN) ?? false)
  return { isOurs, place: isOurs ? null : placeOf(`\n${below.join('\n')}`) }
}

/** Frames that are looked at: a request of Node has more than 20 of its own. */
const FRAMES = 40

function takeStack(): string {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = FRAMES
  const { stack = '' } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  return stack
}

function placeOf(stack: string): string | null {
  for (const line of stack.split('\n').slice(1)) {
    const frame = readFrame(line)
    if (frame && !frame.path.startsWith(OWN) && !frame.path.includes('node_modules')) {
      return `${relative(process.cwd(), frame.path)}:${frame.row}:${frame.column}`
    }
  }
  return null
}

function readFrame(line: string): { path: string; row: string; column: string } | null {
  const [, file, row = '', column = ''] = FRAME.exec(line.trim()) ?? []
  if (file === undefined || line.includes('node:')) return null
  return { path: file.startsWith('file:') ? fileURLToPath(file) : file, row, column }
}
