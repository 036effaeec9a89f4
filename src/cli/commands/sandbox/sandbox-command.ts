import type { Command, OptionValues } from '@commander-js/extra-typings'
import type { Cli, Define } from '../../command.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { findSandbox, type SandboxChoice, type SandboxControl } from './sandbox-control.ts'

/** A running sandbox, and the command line that asks it. */
interface AtSandbox extends Pick<Cli, 'out' | 'project'> {
  sandbox: SandboxControl
}

/** A command of a running sandbox, which two options choose; `take` adds its own. */
export function sandboxCommand<Args extends unknown[], Options extends OptionValues>(
  take: (command: Command) => Command<Args, Options>,
  act: (at: AtSandbox, options: Options, ...args: Args) => Promise<unknown>,
): Define {
  return (command, { out, project }) => {
    command
      .option('--url <url>', 'address of the sandbox (default: the running sandbox of this project)')
      .option('--dir <dir>', 'folder of the sandbox, as given to "upshot sandbox start --dir <dir>"')
    take(command).action(async (...given) => {
      const args = given.slice(0, -2) as Args
      const options = given.at(-2) as Options & SandboxChoice
      await act({ out, project, sandbox: await findSandbox(project, options) }, options, ...args)
    })
  }
}

/** The same without arguments and options of its own. */
export function atSandbox(act: (at: AtSandbox) => Promise<unknown>): Define {
  return sandboxCommand((command) => command, act)
}

/** A list of a sandbox as a table; `empty` is said where it has no row. */
export function showRows<Row>(out: Output, rows: readonly Row[], columns: readonly Column<Row>[], empty: string): void {
  out.result(rows, () => formatTable(rows, columns, out))
  if (rows.length === 0) out.note(empty)
}

/** Under `--dry-run`: prints what would be done and returns true. */
export function isRehearsal(out: Output, would: string): boolean {
  if (!out.given.dryRun) return false
  out.result({ done: false, would }, () => [`Would ${would}.`])
  return true
}

interface Deed {
  /** The action in words, such as `remove the webhook http://…`, and what it is done to. */
  will: string
  things?: readonly string[]
  act: () => Promise<unknown>
  /** The facts of the result. */
  data: Record<string, unknown>
  /** The state of the thing afterwards, such as `removed`: true in the result where it was done. */
  is: string
  done: string
}

/** Does it once a person agrees, prints the result, and returns whether it was done. */
export async function doConfirmed(out: Output, { will, things, act, data, is, done }: Deed): Promise<boolean> {
  const isConfirmed = await confirm(out, { will, ...(things && { things }) })
  if (isConfirmed) await act()
  out.result({ ...data, [is]: isConfirmed }, () => [isConfirmed ? done : `Nothing was ${is}.`])
  return isConfirmed
}
