import type { Command } from '@commander-js/extra-typings'
import type { Output } from './terminal/output.ts'

/** What the file of a command exports: it gives the command its arguments, options and action. */
export interface CommandFile {
  /** `tree` is the whole command line, for a command that describes it. */
  define(command: Command, out: Output, tree: CommandTree): void
}

/** A group of commands, or a command whose file is read when it is called for. */
export type CommandNode =
  | { summary: string; commands: CommandTree }
  | { summary: string; load: () => Promise<CommandFile> }

/** Commands by their names. */
export interface CommandTree {
  [name: string]: CommandNode
}
