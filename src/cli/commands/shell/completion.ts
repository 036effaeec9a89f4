import { Argument, Command } from '@commander-js/extra-typings'
import { type Cli, type CommandNode, type CommandTree, loadCommand } from '../../command.ts'
import { openProject } from '../../open/open-project.ts'
import { buildProgram } from '../../program.ts'
import type { Output } from '../../terminal/output.ts'

export function define(command: Command, { out, tree }: Cli): void {
  command
    .addArgument(new Argument('<shell>', 'shell to write the script for').choices(SHELLS))
    .addHelpText(
      'after',
      [
        '',
        '  bash  source <(upshot completion bash)            in ~/.bashrc',
        '  zsh   source <(upshot completion zsh)             in ~/.zshrc, after compinit',
        '  fish  upshot completion fish | source             in ~/.config/fish/config.fish',
      ].join('\n'),
    )
    .action(async (shell) => {
      const script = writeCompletion(shell, await collectWords(tree, out))
      out.result({ shell, script }, () => [script])
    })
}

/** The supported shells. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The completion script of a shell. */
export function writeCompletion(shell: Shell, commands: readonly CommandWords[]): string {
  if (shell === 'fish') return writeFish(commands)
  const functions = [
    writeLookUp('_upshot_words', commands, ({ words }) => words.map(({ word }) => word)),
    writeValues(commands),
  ]
  return [...functions, shell === 'bash' ? BASH : ZSH].join('\n')
}

function writeLookUp(
  name: string,
  commands: readonly CommandWords[],
  wordsOf: (command: CommandWords) => string[],
): string {
  const cases = commands.map((command) => `    ${quote(command.path)}) echo ${quote(wordsOf(command).join(' '))} ;;`)
  return [`${name}() {`, '  case "$1" in', ...cases, '  esac', '}'].join('\n')
}

/** A shell function that lists the values of an option; `file` stands for file names. */
function writeValues(commands: readonly CommandWords[]): string {
  const cases = commands.flatMap(({ path, values }) =>
    values.map(({ option, choices }) => {
      const answer = choices.length === 0 ? 'file' : `words ${choices.join(' ')}`
      return `    ${quote(`${path} ${option}`.trim())}) echo ${quote(answer)} ;;`
    }),
  )
  return ['_upshot_values() {', '  case "$1" in', ...cases, '  esac', '}'].join('\n')
}

/**
 * A function for bash and zsh that finds the command before the cursor. No variable may be named
 * `path`, which zsh ties to `PATH`.
 */
const FIND_PATH = `_upshot_path() {
  local found="" word skip=""
  for word in "$@"; do
    if [ -n "$skip" ]; then skip=""; continue; fi
    case "$word" in
      -*) if [ -n "$(_upshot_values "\${found:+$found }$word")" ]; then skip=1; fi ;;
      *) if [ -n "$(_upshot_words "\${found:+$found }$word")" ]; then found="\${found:+$found }$word"; fi ;;
    esac
  done
  echo "$found"
}`

const BASH = `${FIND_PATH}
_upshot() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" place values words
  place="$(_upshot_path "\${COMP_WORDS[@]:1:COMP_CWORD-1}")"
  values="$(_upshot_values "\${place:+$place }$previous")"
  case "$values" in
    words*) COMPREPLY=($(compgen -W "\${values#words }" -- "$current")) ;;
    file) COMPREPLY=($(compgen -f -- "$current")) ;;
    *)
      # The commands come first; options are offered once a dash is typed.
      words=" $(_upshot_words "$place")"
      case "$current" in -*) ;; *) words="\${words%% --*}" ;; esac
      COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}
complete -o default -F _upshot upshot`

const ZSH = `${FIND_PATH}
_upshot() {
  local location values
  local -a known
  location="$(_upshot_path "\${(@)words[2,CURRENT-1]}")"
  values="$(_upshot_values "\${location:+$location }$words[CURRENT-1]")"
  case "$values" in
    words*) compadd -- \${=values#words } ;;
    file) _files ;;
    *)
      known=(\${=$(_upshot_words "$location")})
      # The commands come first; options are offered once a dash is typed.
      if [[ $words[CURRENT] != -* ]]; then known=(\${known:#-*}); fi
      if (( $#known )); then compadd -- $known; else _files; fi ;;
  esac
}
compdef _upshot upshot`

/** The fish script. It lists candidates with help by itself: fish conditions ignore word order. */
function writeFish(commands: readonly CommandWords[]): string {
  const words = commands.map(({ path, words }) =>
    fishCase(
      path,
      words.map(({ word, help }) => `${word}\t${help}`),
    ),
  )
  const values = commands.flatMap(({ path, values }) =>
    values.map(({ option, choices }) =>
      fishCase(`${path} ${option}`.trim(), choices.length === 0 ? ['file'] : ['words', ...choices]),
    ),
  )
  return [...fishSwitch('__upshot_words', words), ...fishSwitch('__upshot_values', values), FISH].join('\n')
}

function fishSwitch(name: string, cases: readonly string[]): string[] {
  return [`function ${name}`, '  switch "$argv[1]"', ...cases, '  end', 'end']
}

function fishCase(value: string, lines: readonly string[]): string {
  return `    case ${quote(value)}; printf '%s\\n' ${lines.map(quote).join(' ')}`
}

const FISH = `function __upshot_path
  set -l found ""
  set -l skip ""
  for word in $argv
    if test -n "$skip"
      set skip ""
      continue
    end
    set -l longer (string trim -- "$found $word")
    if string match -q -- "-*" $word
      if test -n "$(__upshot_values $longer)"
        set skip 1
      end
    else if test -n "$(__upshot_words $longer)"
      set found $longer
    end
  end
  echo $found
end
function __upshot
  set -l tokens (commandline -opc)
  set -l place (__upshot_path $tokens[2..])
  set -l values (__upshot_values (string trim -- "$place $tokens[-1]"))
  switch "$values[1]"
    case words
      printf '%s\\n' $values[2..]
    case file
      __fish_complete_path (commandline -ct)
    case '*'
      set -l words (__upshot_words "$place")
      # The commands come first; options are offered once a dash is typed.
      if not string match -q -- "-*" "$(commandline -ct)"
        set words (string match -v -- "-*" $words)
      end
      if test (count $words) -gt 0
        printf '%s\\n' $words
      else
        __fish_complete_path (commandline -ct)
      end
  end
end
complete -c upshot -e
complete -c upshot -f -a '(__upshot)'`

/** Quotes a text as one shell word. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

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
interface CommandWords {
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
