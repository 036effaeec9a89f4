import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import { cutEnd } from '../../notices/log/fit-text.ts'
import { formatDocument, formatText, steerless } from './format-value.ts'
import { EXIT, type Problem } from './problem.ts'

/** The guide comes with the package. */
const TROUBLESHOOTING = fileURLToPath(new URL('../../../docs/troubleshooting.md', import.meta.url))
/** Of these failures that guide says more than their fix does. */
const EXPLAINED = new Set<number>([EXIT.failed, EXIT.temporary, EXIT.authentication])

/** The options of every command, under the camel-case names of those in `program.ts`. */
interface GlobalOptions {
  /** One JSON document instead of text. */
  json: boolean
  /** One JSON document per line: each row of a list, or the whole of another result. */
  ndjson: boolean
  /** Data and errors only. */
  quiet: boolean
  verbose: boolean
  color: boolean
  /** False: never ask a question. */
  input: boolean
  /** Answer confirmations with yes. Not a `--force`: an action that is refused stays refused. */
  yes: boolean
  /** Print what would be done, and change nothing. */
  dryRun: boolean
}

/** Text styles, named as for Node's `styleText`. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow'

/** The standard streams of the process, or a test's own. */
export interface OutputStreams {
  /** The stream a person answers on; left out if there is none. */
  stdin?: NodeJS.ReadableStream
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

/** The output of a command: data goes to stdout, everything else to stderr. */
export interface Output {
  readonly given: GlobalOptions
  readonly streams: OutputStreams
  /** Whether a person can answer: stdin and stdout are terminals, no `--no-input`, no `--json`. */
  readonly isInteractive: boolean
  /** Whether a person reads along: stdout is a terminal, no `--json`, no `--ndjson`. */
  readonly isWatched: boolean
  /** Columns of the terminal that a person reads on; null where nobody does. */
  readonly width: number | null
  /** The exit code if nothing was thrown. Default 0. */
  readonly exit: number
  /**
   * Prints the command's one result: `data` as JSON, or `lines` as text. `about` stands beside
   * `data` in the document, such as how far a search looked.
   */
  result(data: unknown, lines: () => readonly string[], about?: Record<string, unknown>): void
  /** Prints a hint to stderr. Dropped under `--quiet` and `--json`. */
  note(text: string): void
  /** Prints to stderr under `--verbose` only. */
  detail(text: string): void
  /** Sets the exit code for a result that itself reports what is wrong. */
  leaveWith(exit: keyof typeof EXIT): void
  /** Replaces the status line on stderr, if that is a terminal; null removes it. */
  redraw(line: string | null): void
  /** Prints a problem: as the JSON document, or as two lines on stderr. */
  fail(problem: Problem): void
  /** Styles text for stdout, if colors are on. */
  paint(style: Style, text: string): string
}

/**
 * Reads the global options before the parser runs, because they shape its errors too. Like the
 * parser, it accepts them anywhere before a `--`.
 */
export function readGlobalOptions(args: readonly string[]): GlobalOptions {
  const end = args.indexOf('--')
  const flags = new Set(end === -1 ? args : args.slice(0, end))
  return {
    json: flags.has('--json'),
    ndjson: flags.has('--ndjson'),
    quiet: flags.has('--quiet'),
    verbose: flags.has('--verbose') || flags.has('-v'),
    color: !flags.has('--no-color'),
    input: !flags.has('--no-input'),
    yes: flags.has('--yes'),
    dryRun: flags.has('--dry-run'),
  }
}

/** Colors need a terminal and are off under `NO_COLOR`, whatever the options are. */
export function createOutput(given: GlobalOptions, streams: OutputStreams): Output {
  const { stdin, stdout, stderr } = streams
  const isDocument = given.json || given.ndjson
  const paintFor = (stream: NodeJS.WritableStream) => (style: Style, text: string) =>
    given.color && text !== '' ? styleText(style, text, { stream }) : text
  const document = (content: unknown) => stdout.write(`${formatDocument(content)}\n`)
  const line = createStatusLine(stderr, isDocument || given.quiet)
  const complain = (text: string) => {
    line.clear()
    stderr.write(text)
  }
  let exit: number = 0
  return {
    given,
    streams,
    isInteractive: given.input && !isDocument && isTerminal(stdin) && isTerminal(stdout),
    isWatched: !isDocument && isTerminal(stdout),
    get width() {
      return !isDocument && isTerminal(stdout) ? ((stdout as { columns?: number }).columns ?? 80) : null
    },
    get exit() {
      return exit
    },
    result(data, lines, about = {}) {
      line.clear()
      if (given.ndjson) for (const row of Array.isArray(data) ? data : [data]) document(row)
      else if (given.json) document({ ok: true, data, ...about })
      else for (const text of lines()) stdout.write(`${steerless(text)}\n`)
    },
    note(text) {
      if (!isDocument && !given.quiet) complain(`${steerless(text)}\n`)
    },
    detail(text) {
      if (given.verbose) complain(`${steerless(text)}\n`)
    },
    leaveWith(name) {
      exit = EXIT[name]
    },
    redraw: line.draw,
    fail({ exit, ...error }) {
      if (isDocument) {
        document({ ok: false, error })
        return
      }
      const paint = paintFor(stderr)
      // A message of the store ends with the advice, for logs have no other place for it.
      const own = error.message.endsWith(` ${error.fix}`) ? error.message.slice(0, -error.fix.length) : error.message
      // A message may quote the service or a sender, so each of its lines is made safe.
      const message = own
        .trimEnd()
        .split('\n')
        .map((text) => formatText(text))
      complain(`${paint('red', 'error:')} ${message.join('\n')}\n${paint('dim', '  fix:')} ${steerless(error.fix)}\n`)
      if (!EXPLAINED.has(exit)) return
      const path = relative(process.cwd(), TROUBLESHOOTING)
      const guide = path.startsWith('..') ? TROUBLESHOOTING : path
      complain(`${paint('dim', '  code:')} ${error.code}, see ${guide}\n`)
    },
    paint: paintFor(stdout),
  }
}

function createStatusLine(stream: NodeJS.WritableStream & { columns?: number }, isOff: boolean) {
  let isDrawn = false
  const clear = () => {
    if (isDrawn) stream.write('\r\u001B[2K')
    isDrawn = false
  }
  const draw = (text: string | null) => {
    if (isOff || !isTerminal(stream)) return
    clear()
    if (text === null) return
    // A line that wraps could not be removed again.
    stream.write(cutEnd(formatText(text), (stream.columns ?? 80) - 1))
    isDrawn = true
  }
  return { clear, draw }
}

function isTerminal(stream: NodeJS.ReadableStream | NodeJS.WritableStream | undefined): boolean {
  return stream !== undefined && 'isTTY' in stream && stream.isTTY === true
}
