import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of this package's own code, whose frames are skipped. */
const OWN = resolve(import.meta.dirname, '../..')
const OWN_WATCH = import.meta.dirname
const OWN_CLIENT = join(OWN, 'files', '/')
const FRAME = /\(?((?:file:\/\/)?\/[^()]+|(?:file:\/\/\/)?[A-Za-z]:[^()]+):(\d+):(\d+)\)?$/
const AWAITING = /at async |processTicksAndRejections/

/** File, line and column of the author's code that calls; null where the stack does not tell. */
export function findCallSite(): string | null {
  return placeOf(takeStack())
}

/** The code that begins an asynchronous operation. */
interface Creator {
  /** Whether it is this package. */
  isOurs: boolean
  /** Whether it is our client of the Files API. */
  isClient: boolean
  /** Of the author's code; null where the stack does not tell. */
  place: string | null
}

/**
 * The code that begins an operation, or has a library begin it. To be called in a hook, whose own
 * frames lie above those of the creator.
 */
export function findCreator(): Creator {
  const lines = takeStack().split('\n').slice(1)
  const below = lines.slice(lines.findIndex((line) => readFrame(line)?.path.startsWith(OWN_WATCH) !== true))
  // Functions further down await this one and begin nothing themselves.
  const awaiting = below.findIndex((line) => AWAITING.test(line))
  const frames = below.slice(0, awaiting < 0 ? below.length : awaiting).map(readFrame)
  const creator = frames.find((frame) => frame !== null && !isLibrary(frame.path))
  const isOurs = creator?.path.startsWith(OWN) ?? false
  const isClient = creator?.path.startsWith(OWN_CLIENT) ?? false
  return { isOurs, isClient, place: placeOf(`\n${below.join('\n')}`) }
}

/** This package is a library of projects, too. */
function isLibrary(path: string): boolean {
  return path.includes('node_modules') && !path.startsWith(OWN)
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
    if (frame && !frame.path.startsWith(OWN) && !isLibrary(frame.path)) {
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

/** Names whose places are kept for one function: code may make names of data. */
const MAX_NAMES = 1_000

/**
 * Where code calls its steps, by name: the first call of each in this process. A stack costs more
 * than a whole step, so it is taken once.
 */
export class CallSites {
  readonly #places = new Map<string, string | null>()
  readonly #changed = new Set<string>()

  note(name: string): void {
    if (!this.#places.has(name) && this.#places.size < MAX_NAMES) this.#places.set(name, findCallSite())
  }

  find(name: string): string | null {
    return this.#places.get(name) ?? null
  }

  /** True the first time: what the code has changed in an open wait of this name is told once. */
  noteChange(name: string): boolean {
    if (this.#changed.has(name) || this.#changed.size >= MAX_NAMES) return false
    this.#changed.add(name)
    return true
  }

  /** Those of an author's function; another version of its code is another function. */
  static of(code: object): CallSites {
    const places = known.get(code) ?? new CallSites()
    known.set(code, places)
    return places
  }
}

/** A cache: every pass asks for the places of its workflow. */
const known = new WeakMap<object, CallSites>()
