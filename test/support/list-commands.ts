import { Command } from '@commander-js/extra-typings'
import { type Cli, type CommandTree, loadCommand } from '../../src/cli/command.ts'
import { COMMAND_TREE } from '../../src/cli/commands/command-tree.ts'
import { openProject } from '../../src/cli/open/open-project.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { createOutput, readGlobalOptions } from '../../src/cli/terminal/output.ts'

interface ListedCommand {
  /** Such as `runs list`; empty for `upshot` itself. */
  path: string
  isGroup: boolean
  options: string[]
}

/** Every command and group, with all options that it takes. Loads the files of all commands. */
export async function listCommands(): Promise<ListedCommand[]> {
  const out = createOutput(readGlobalOptions([]), process)
  const cli: Cli = { out, project: openProject(), tree: COMMAND_TREE }
  const shared = ['--help', ...longOf(buildProgram({}, out, () => {}))]
  const walk = async (tree: CommandTree, path: string): Promise<ListedCommand[]> => {
    const below = Object.entries(tree).map(async ([name, node]) => {
      const full = `${path} ${name}`.trim()
      if ('commands' in node) return walk(node.commands, full)
      const command = new Command(name)
      ;(await loadCommand(node))(command, cli)
      return [{ path: full, isGroup: false, options: [...longOf(command), ...shared] }]
    })
    return [{ path, isGroup: true, options: shared }, ...(await Promise.all(below)).flat()]
  }
  return walk(COMMAND_TREE, '')
}

function longOf({ options }: Pick<Command, 'options'>): string[] {
  return options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? [])
}
