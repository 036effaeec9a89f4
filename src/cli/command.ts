import type { Command } from '@commander-js/extra-typings'
import type { Project } from './open/open-project.ts'
import type { Output } from './terminal/output.ts'

/** Gives a command its arguments, options and action. */
export type Define = (command: Command, cli: Cli) => void

export interface Cli {
  out: Output
  project: Project
  tree: CommandTree
}

/** A group of commands, or a command; its module is loaded when the command is called. */
export type CommandNode = { summary: string; commands: CommandTree } | Leaf

interface Leaf {
  summary: string
  load: () => Promise<object>
  /** Its name in the module. */
  as: string
}

export interface CommandTree {
  [name: string]: CommandNode
}

/** A command in a module of its own, which exports it as `define`. */
export function command(summary: string, load: () => Promise<{ define: Define }>): CommandNode {
  return { summary, load, as: 'define' }
}

/** Commands that one module exports, each under its name, with their summaries. */
export function commandsOf<Module extends object>(
  load: () => Promise<Module>,
  summaries: { [Name in keyof Module as Module[Name] extends Define ? Name : never]?: string },
): CommandTree {
  const nodes = Object.entries(summaries as Record<string, string>).map(([as, summary]) => [as, { summary, load, as }])
  return Object.fromEntries(nodes)
}

export async function loadCommand({ load, as }: Leaf): Promise<Define> {
  return ((await load()) as Record<string, Define>)[as] as Define
}
