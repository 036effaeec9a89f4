import { Command } from '@commander-js/extra-typings'
import type { CommandTree } from './command-tree.ts'
import type { Output } from './output.ts'
import { readVersion } from './read-version.ts'

/** The parser of the whole tree. It throws `CommanderError` instead of leaving the process; help and version go to `writeHelp`, in pieces. */
export function buildProgram(tree: CommandTree, out: Output, writeHelp: (text: string) => void): Command {
  const program = new Command('upshot')
  program
    .description('Follow-up automation for a file migration service: signed webhooks in, durable workflows out.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print what a command takes')
    .option('--json', 'print one JSON document: { ok, data } or { ok, error }')
    .option('--quiet', 'print data and errors only')
    .option('--no-color', 'print without colours')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: writeHelp,
      writeErr: (text) => out.note(text.trimEnd()),
      // The error itself is thrown, and printed by whoever catches it.
      outputError: () => {},
    })
  addCommands(program, tree, out)
  return program
}

/** Adds name and summary of each command; its file is loaded once the command line has called for it. */
function addCommands(parent: Command, tree: CommandTree, out: Output): void {
  const definitions = new Map<string, () => Promise<void>>()
  for (const [name, node] of Object.entries(tree)) {
    const command = new Command(name).copyInheritedSettings(parent).description(node.summary)
    parent.addCommand(command)
    if ('commands' in node) addCommands(command, node.commands, out)
    else definitions.set(name, async () => (await node.load()).define(command, out))
  }
  parent.hook('preSubcommand', async (_parent, command) => definitions.get(command.name())?.())
}
