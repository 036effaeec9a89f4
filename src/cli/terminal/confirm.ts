import { createInterface } from 'node:readline/promises'
import { UpshotError } from '../../core/errors.ts'
import { processEnvironment } from '../../project/config/environment.ts'
import type { Output } from './output.ts'

/** An action that needs a confirmation. */
interface Intent {
  /** The action with its count, such as `delete 12 files (3.4 MB) from storage_a:/reports`. */
  will: string
  /** The things it is done to, or the first of them; 20 are shown. */
  things?: readonly string[]
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
  if (canAsk(out, environment) && (await ask(out, 'Continue? [y/N] '))) return true
  throw new UpshotError('needs_confirmation', `This would ${intent.will}. Nothing was done.`, {
    fix: 'Add --yes to do it, or --dry-run to see what it would do.',
  })
}

/** Whether a person can be asked; never if `CI` is set, because nobody watches its terminal. */
export function canAsk({ isInteractive }: Pick<Output, 'isInteractive'>, environment = processEnvironment()): boolean {
  return isInteractive && !environment.CI
}

function announce(out: Output, { will, things = [], count = things.length }: Intent): void {
  const shown = things.slice(0, THINGS_SHOWN).map((thing) => `  ${thing}`)
  const rest = count > THINGS_SHOWN ? [`  … and ${count - THINGS_SHOWN} more`] : []
  out.note([`This will ${will}.`, ...shown, ...rest].join('\n'))
}

async function ask({ streams: { stdin, stderr } }: Output, question: string): Promise<boolean> {
  if (stdin === undefined) return false
  const lines = createInterface({ input: stdin, output: stderr })
  try {
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    const answer = await Promise.race([lines.question(question), closed])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
