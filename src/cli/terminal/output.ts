import { styleText } from 'node:util'
import { formatText } from './format-value.ts'
import { EXIT, type Problem } from './problem.ts'

/** What every command takes. Camel-cased names of the options in `program.ts`. */
export interface GlobalOptions {
  /** One JSON document instead of text. */
  json: boolean
  /** One JSON document per line: each row of a list, or the whole of another result. */
  ndjson: boolean
  /** Nothing but data and errors. */
  quiet: boolean
  verbose: boolean
  color: boolean
  /** False: never ask. */
  input: boolean
  /** Accept what would be asked. It is no `--force`: what is refused without it stays refused. */
  yes: boolean
  /** Say what would be done, and do nothing. */
  dryRun: boolean
}

/** What may be painted; the names are those of Node's `styleText`. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow'

/** The process, or what stands in for it. */
export interface OutputStreams {
  /** Where a person answers; left out where there is none. */
  stdin?: NodeJS.ReadableStream
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

/** Where a command's words go: data to stdout, all else to stderr. */
export interface Output {
  /** The options that every command takes, as they were given. */
  readonly given: GlobalOptions
  readonly streams: OutputStreams
  /** Whether a person sits in front: a terminal on both sides, no `--no-input`, no `--json`. */
  readonly isInteractive: boolean
  /** Whether a person reads along: stdout is a terminal, and text was not turned off. */
  readonly isWatched: boolean
  /** What the process leaves with where nothing was thrown; 0 unless a command said otherwise. */
  readonly exit: number
  /** The command's one result: `data` as JSON, or its `lines` for a person. */
  result(data: unknown, lines: () => readonly string[]): void
  /**
   * A line of a result that comes bit by bit, for a person who watches; dropped under `--json`,
   * where the result has it all.
   */
  tell(line: string): void
  /** A hint for a person; dropped under `--quiet` and `--json`. */
  note(text: string): void
  /** What only `--verbose` shows, on stderr. */
  detail(text: string): void
  /** For a command whose result says itself what is wrong, such as `difference`. */
  leaveWith(exit: keyof typeof EXIT): void
  /**
   * Replaces the line at the bottom of a terminal's stderr; null takes it away. Does nothing where
   * there is no terminal.
   */
  redraw(line: string | null): void
  fail(problem: Problem): void
  /** Colours text for stdout, where colours are wanted. */
  paint(style: Style, text: string): string
}

/**
 * Reads the options that must be known before the rest of the command line is understood: they
 * shape its errors too. Like the parser, it takes them wherever they stand before a `--`.
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

/** `NO_COLOR`, and streams that are no terminal, turn colours off whatever the options say. */
export function createOutput(given: GlobalOptions, streams: OutputStreams): Output {
  const { stdin, stdout, stderr } = streams
  const isDocument = given.json || given.ndjson
  const paintFor = (stream: NodeJS.WritableStream) => (style: Style, text: string) =>
    given.color && text !== '' ? styleText(style, text, { stream }) : text
  const document = (content: unknown) => stdout.write(`${JSON.stringify(content)}\n`)
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
    get exit() {
      return exit
    },
    result(data, lines) {
      line.clear()
      if (given.ndjson) for (const row of Array.isArray(data) ? data : [data]) document(row)
      else if (given.json) document({ ok: true, data })
      else for (const text of lines()) stdout.write(`${text}\n`)
    },
    tell(text) {
      line.clear()
      if (!isDocument) stdout.write(`${text}\n`)
    },
    note(text) {
      if (!isDocument && !given.quiet) complain(`${text}\n`)
    },
    detail(text) {
      if (given.verbose) complain(`${text}\n`)
    },
    leaveWith(name) {
      exit = EXIT[name]
    },
    redraw: line.draw,
    fail({ exit: _exit, ...error }) {
      if (isDocument) {
        document({ ok: false, error })
        return
      }
      const paint = paintFor(stderr)
      // A message may quote the service or a sender, who must not steer this terminal; its lines
      // are ours.
      const message = error.message.split('\n').map((text) => formatText(text))
      complain(`${paint('red', 'error:')} ${message.join('\n')}\n${paint('dim', '  fix:')} ${error.fix}\n`)
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
    // A line that wraps could not be taken away again.
    stream.write(formatText(text, (stream.columns ?? 80) - 1))
    isDrawn = true
  }
  return { clear, draw }
}

function isTerminal(stream: NodeJS.ReadableStream | NodeJS.WritableStream | undefined): boolean {
  return stream !== undefined && 'isTTY' in stream && stream.isTTY === true
}
