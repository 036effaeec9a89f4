import { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { readVersion } from '../project/read-version.ts'
import { type Cli, type CommandTree, type Define, loadCommand } from './command.ts'
import { openProject } from './open/open-project.ts'
import type { Output } from './terminal/output.ts'

/**
 * The parser of all commands. It throws `CommanderError` instead of ending the process, and passes
 * help and version to `writeHelp`, in pieces.
 */
export function buildProgram(tree: CommandTree, out: Output, writeHelp: (text: string) => void): Command {
  const program = new Command('upshot')
  const configured = program
    .description('Follow-up automation for a file migration service: signed webhooks in, durable workflows out.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print the arguments and options of a command')
    .option('--json', 'print one JSON document: { ok, data } or { ok, error }')
    .option('--ndjson', 'print one JSON document per line: each row of a list, or the whole result')
    .option('--quiet', 'print data and errors only')
    .option('-v, --verbose', 'print more detail, and the stack trace of an error')
    .option('--no-color', 'print without colors')
    .option('--no-input', 'never ask a question')
    .option('--yes', 'answer every confirmation with yes')
    .option('--dry-run', 'print what would be done, and change nothing')
    .option('--reason <text>', 'why you do it; kept in the audit log')
    .option('--server <url>', 'act at this admin server (default: UPSHOT_SERVER, or the database of this machine)')
    .option('--token-file <file>', 'file with a token of that server (default: UPSHOT_TOKEN_FILE)')
    .option('--config <file>', 'the project file (default: config/upshot.config.ts)', parseConfigFile)
    .exitOverride()
    .configureOutput({
      writeOut: writeHelp,
      writeErr: (text) => out.note(text.trimEnd()),
      // The error itself is thrown; `runCommandLine` prints it.
      outputError: () => {},
    })
  addCommands(program, tree, () => ({
    out,
    tree,
    project: openProject(configured.opts()),
  }))
  return program
}

function parseConfigFile(file: string): string {
  if (file === '' || file.startsWith('-')) throw new InvalidArgumentError('Give the path of a file.')
  return file
}

/**
 * Adds the name and summary of each command. Its file is loaded before it runs; the options of the
 * program are known by then.
 */
function addCommands(parent: Command, nodes: CommandTree, makeCli: () => Cli): void {
  const definitions = new Map<string, () => Promise<void>>()
  for (const [name, node] of Object.entries(nodes)) {
    const command = new Command(name).copyInheritedSettings(parent).description(node.summary)
    command.addHelpText('after', '\nFor the options of every command, such as --json and --yes: upshot --help')
    parent.addCommand(command)
    if ('commands' in node) addCommands(command, node.commands, makeCli)
    else definitions.set(name, async () => defineLate(command, await loadCommand(node), makeCli()))
  }
  parent.hook('preSubcommand', async (_parent, command) => definitions.get(command.name())?.())
}

/** Commander sets `--no-…` options to true before it knows of these, so that is done here. */
function defineLate(command: Command, define: Define, cli: Cli): void {
  define(command, cli)
  for (const option of command.options.filter(({ negate }) => negate)) {
    command.setOptionValueWithSource(option.attributeName() as never, true as never, 'default')
  }
}
