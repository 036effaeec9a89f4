import { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import type { CommandTree } from './command.ts'
import { readVersion } from './input/read-version.ts'
import { projectChoice } from './open/project-choice.ts'
import type { Output } from './terminal/output.ts'

/**
 * The parser of the whole tree. It throws `CommanderError` instead of leaving the process; help and
 * version go to `writeHelp`, in pieces.
 */
export function buildProgram(tree: CommandTree, out: Output, writeHelp: (text: string) => void): Command {
  const program = new Command('upshot')
  projectChoice.configFile = null
  program
    .description('Follow-up automation for a file migration service: signed webhooks in, durable workflows out.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print what a command takes')
    .option('--json', 'print one JSON document: { ok, data } or { ok, error }')
    .option('--ndjson', 'print each row of a list as a JSON document on a line of its own')
    .option('--quiet', 'print data and errors only')
    .option('-v, --verbose', 'print more about what is done, and where an error came from')
    .option('--no-color', 'print without colours')
    .option('--no-input', 'never ask')
    .option('--yes', 'do what would be asked about')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--config <file>', 'the project file (default: config/upshot.config.ts)', chooseConfigFile)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: writeHelp,
      writeErr: (text) => out.note(text.trimEnd()),
      // The error itself is thrown, and printed by whoever catches it.
      outputError: () => {},
    })
  addCommands(program, { nodes: tree, tree, out })
  return program
}

function chooseConfigFile(file: string): string {
  if (file === '' || file.startsWith('-')) throw new InvalidArgumentError('It is the path of a file.')
  projectChoice.configFile = file
  return file
}

/**
 * Adds name and summary of each command; its file is loaded once the command line has called for
 * it.
 */
function addCommands(
  parent: Command,
  { nodes, tree, out }: { nodes: CommandTree; tree: CommandTree; out: Output },
): void {
  const definitions = new Map<string, () => Promise<void>>()
  for (const [name, node] of Object.entries(nodes)) {
    const command = new Command(name).copyInheritedSettings(parent).description(node.summary)
    parent.addCommand(command)
    if ('commands' in node) addCommands(command, { nodes: node.commands, tree, out })
    else definitions.set(name, async () => (await node.load()).define(command, out, tree))
  }
  parent.hook('preSubcommand', async (_parent, command) => definitions.get(command.name())?.())
}
