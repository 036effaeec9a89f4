import { Command } from '@commander-js/extra-typings'
import { type Cli, type CommandNode, type CommandTree, loadCommand } from '../../command.ts'
import { openProject } from '../../open/open-project.ts'
import { buildProgram } from '../../program.ts'
import type { Output } from '../../terminal/output.ts'

/** The words that may follow each command. Loads the files of all commands. */
export async function collectWords(tree: CommandTree, out: Output): Promise<CommandWords[]> {
  const cli: Cli = { out, project: openProject(), tree }
  const program = buildProgram({}, out, () => {})
  const shared = wordsOfOptions(program)
  const own: Word = { word: '--help', help: 'print the arguments and options of a command' }
  const walk = async (nodes: CommandTree, path: string): Promise<CommandWords[]> => {
    const commands = Object.entries(nodes).map(([word, { summary }]) => ({ word, help: summary }))
    const here = { path, words: [...commands, ...shared.words, own], values: shared.values }
    const below = Object.entries(nodes).map(async ([name, node]) => {
      const full = path === '' ? name : `${path} ${name}`
      return 'commands' in node ? walk(node.commands, full) : [await readLeaf(node, full)]
    })
    return [here, ...(await Promise.all(below)).flat()]
  }
  const readLeaf = async (node: Extract<CommandNode, { load: unknown }>, path: string): Promise<CommandWords> => {
    const command = new Command(path)
    const define = await loadCommand(node)
    define(command, cli)
    const options = wordsOfOptions(command)
    const choices = command.registeredArguments[0]?.argChoices ?? []
    const words = [...choices.map((word) => ({ word, help: '' })), ...options.words, ...shared.words, own]
    return { path, words, values: [...options.values, ...shared.values] }
  }
  return walk(tree, '')
}

function wordsOfOptions(command: Pick<Command, 'options'>): Pick<CommandWords, 'words' | 'values'> {
  const options = command.options.filter(({ long, hidden }) => long && !hidden)
  return {
    words: options.map(({ long, description }) => ({ word: long ?? '', help: description })),
    values: options
      .filter(({ required, optional }) => required || optional)
      .map(({ long, argChoices }) => ({ option: long ?? '', choices: argChoices ?? [] })),
  }
}

/** The words that may follow a command: its subcommands or argument choices, and its options. */
export interface CommandWords {
  /** A command such as `runs list`; empty for `upshot` itself. */
  path: string
  words: Word[]
  /** The options that take a value, with the known values. */
  values: { option: string; choices: readonly string[] }[]
}

/** A word with its help text. */
interface Word {
  word: string
  help: string
}
