import { styleText } from 'node:util'
import { formatText } from './format-value.ts'
import type { Problem } from './problem.ts'

/** How a command's words are printed. */
export interface OutputOptions {
  /** One JSON document instead of text. */
  isJson: boolean
  /** Nothing but data and errors. */
  isQuiet: boolean
  hasColour: boolean
}

/** What may be painted; the names are those of Node's `styleText`. */
export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow'

/** The process, or what stands in for it. */
export interface OutputStreams {
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

/** Where a command's words go: data to stdout, all else to stderr. */
export interface Output {
  /** The command's one result: `data` as JSON, or its `lines` for a person. */
  result(data: unknown, lines: () => readonly string[]): void
  /** A line of a result that comes bit by bit, for a person who watches; dropped under `--json`, where the result has it all. */
  tell(line: string): void
  /** A hint for a person; dropped under `--quiet` and `--json`. */
  note(text: string): void
  fail(problem: Problem): void
  /** Colours text for stdout, where colours are wanted. */
  paint(style: Style, text: string): string
}

/** Reads the options that must be known before the rest of the command line is understood: they shape its errors too. */
export function readOutputOptions(args: readonly string[]): OutputOptions {
  const end = args.indexOf('--')
  const flags = new Set(end === -1 ? args : args.slice(0, end))
  return { isJson: flags.has('--json'), isQuiet: flags.has('--quiet'), hasColour: !flags.has('--no-color') }
}

/** `NO_COLOR`, and streams that are no terminal, turn colours off whatever the options say. */
export function createOutput({ isJson, isQuiet, hasColour }: OutputOptions, { stdout, stderr }: OutputStreams): Output {
  const paintFor = (stream: NodeJS.WritableStream) => (style: Style, text: string) =>
    hasColour && text !== '' ? styleText(style, text, { stream }) : text
  const document = (content: object) => stdout.write(`${JSON.stringify(content)}\n`)
  return {
    result(data, lines) {
      if (isJson) document({ ok: true, data })
      else for (const line of lines()) stdout.write(`${line}\n`)
    },
    tell(line) {
      if (!isJson) stdout.write(`${line}\n`)
    },
    note(text) {
      if (!isJson && !isQuiet) stderr.write(`${text}\n`)
    },
    fail({ exit: _exit, ...error }) {
      if (isJson) {
        document({ ok: false, error })
        return
      }
      const paint = paintFor(stderr)
      // A message may quote the service or a sender, who must not steer this terminal; its lines are ours.
      const message = error.message.split('\n').map((line) => formatText(line))
      stderr.write(`${paint('red', 'error:')} ${message.join('\n')}\n${paint('dim', '  fix:')} ${error.fix}\n`)
    },
    paint: paintFor(stdout),
  }
}
