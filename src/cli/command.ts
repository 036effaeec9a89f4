import type { Command } from '@commander-js/extra-typings'
import type { Project } from './open/open-project.ts'
import type { Output } from './terminal/output.ts'

/** The file of one command. */
interface CommandFile {
  /** Gives the command its arguments, options and action. */
  define(command: Command, cli: Cli): void
}

/** The command line that a command belongs to. */
export interface Cli {
  out: Output
  project: Project
  /** All commands, for one that describes them. */
  tree: CommandTree
}

/** A group of commands, or a command; its file is loaded when the command is called. */
export type CommandNode =
  | { summary: string; commands: CommandTree }
  | { summary: string; load: () => Promise<CommandFile> }

/** Commands by name. */
export interface CommandTree {
  [name: string]: CommandNode
}
