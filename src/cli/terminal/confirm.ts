import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { UpshotError } from '../../core/errors.ts'
import { processEnvironment } from '../../project/config/environment.ts'
import { formatText } from './format-value.ts'
import type { Output } from './output.ts'

interface Intent {
  /** The action with its count, such as `delete 12 files (3.4 MB) from storage_a:/reports`. */
  will: string
  /** The things it is done to, or the first of them; 20 are shown. */
  things?: readonly string[]
  /** Whether all of them are shown. Default false. */
  isWhole?: boolean
  /** The number of all things. Default: of those given. */
  count?: number
}

const THINGS_SHOWN = 20

/**
 * Shows the intent; true after `--yes` or a "y" at a terminal, false under `--dry-run`. Throws
 * `needs_confirmation` (exit 3) otherwise.
 */
export async function confirm(out: Output, intent: Intent, environment = processEnvironment()): Promise<boolean> {
  const { yes, dryRun } = out.given
  const isSilent = yes && !dryRun
  if (!isSilent) announce(out, intent)
  if (dryRun) return false
  if (yes) return true
  if (canAsk(out, environment) && /^y(es)?$/i.test(await askLine(out, 'Continue? [y/N] '))) return true
  throw new UpshotError('needs_confirmation', `This would ${intent.will}. Nothing was done.`, {
    fix: 'Add --yes to do it, or --dry-run to see what it would do.',
  })
}

/** Whether a person can be asked; never if `CI` is set, because nobody watches its terminal. */
export function canAsk({ isInteractive }: Pick<Output, 'isInteractive'>, environment = processEnvironment()): boolean {
  return isInteractive && !environment.CI
}

function announce(out: Output, { will, things = [], count = things.length, isWhole = false }: Intent): void {
  const shown = things.slice(0, isWhole ? count : THINGS_SHOWN).map((thing) => `  ${formatText(thing)}`)
  const rest = count > shown.length ? [`  … and ${count - shown.length} more`] : []
  out.note([`This will ${formatText(will)}.`, ...shown, ...rest].join('\n'))
}

/** Asks for a secret without echoing it; undefined if nobody can be asked. */
export async function askSecret(out: Output, what: string): Promise<string | undefined> {
  if (!canAsk(out)) return undefined
  const secret = await askLine(out, `${what} (not shown while you type): `, { isSecret: true })
  out.streams.stderr.write('\n')
  return secret
}

/** True where a person at the terminal types the number of things, or "yes" where there is none. */
export async function typesCount(out: Output, count: number): Promise<boolean> {
  const answer = await askLine(out, `Type ${count === 0 ? '"yes"' : 'the number of items'} to go on: `)
  return answer === (count === 0 ? 'yes' : String(count))
}

/** The line that a person types; empty where there is none, or the input ends. */
async function askLine({ streams }: Output, question: string, { isSecret = false } = {}): Promise<string> {
  const { stdin: input, stderr } = streams
  if (input === undefined) return ''
  // `terminal: true` turns off the terminal's own echo; readline's echo goes to this sink.
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface(isSecret ? { input, output: sink, terminal: true } : { input, output: stderr })
  if (isSecret) stderr.write(question)
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.question(isSecret ? '' : question, (answer) => resolve(answer.trim()))
      if (isSecret) lines.once('SIGINT', () => reject(new DOMException('Interrupted.', 'AbortError')))
      lines.once('close', () => resolve(''))
    })
  } finally {
    lines.close()
  }
}
