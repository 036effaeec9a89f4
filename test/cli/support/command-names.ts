import type { CommandTree } from '../../../src/cli/command.ts'
import { COMMAND_TREE } from '../../../src/cli/commands/command-tree.ts'

/** The names of all commands, such as `runs list`. */
export const COMMANDS: readonly string[] = namesOf(COMMAND_TREE)

function namesOf(tree: CommandTree): string[] {
  return Object.entries(tree).flatMap(([name, node]) =>
    'commands' in node ? namesOf(node.commands).map((below) => `${name} ${below}`) : [name],
  )
}
