import { Argument, Command } from '@commander-js/extra-typings'
import { type Cli, type CommandNode, loadCommand } from '../../command.ts'
import { buildProgram } from '../../program.ts'

/** The scripts ask this command at each Tab, so they know the words of the version that runs. */
const SCRIPTS = {
  bash: `_upshot() {
  local IFS=$'\\n'
  COMPREPLY=($(upshot completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _upshot upshot`,
  zsh: `_upshot() {
  local -a known
  known=(\${(f)"$(upshot completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#known )); then compadd -- $known; else _files; fi
}
compdef _upshot upshot`,
  fish: `function __upshot
  set -l current (commandline -ct)
  set -l known (upshot completion fish -- (commandline -opc)[2..] "$current" 2>/dev/null)
  if test (count $known) -gt 0
    printf '%s\\n' $known
  else
    __fish_complete_path "$current"
  end
end
complete -c upshot -e
complete -c upshot -f -a '(__upshot)'`,
}

export type Shell = keyof typeof SCRIPTS
export const SHELLS = Object.keys(SCRIPTS) as Shell[]

export function define(command: Command, cli: Cli): void {
  command
    .addArgument(new Argument('<shell>', 'shell to write the script for').choices(SHELLS))
    .argument('[words...]', 'after "--": the words of a line, to print what may complete the last one')
    .addHelpText(
      'after',
      [
        '',
        '  bash  source <(upshot completion bash)            in ~/.bashrc',
        '  zsh   source <(upshot completion zsh)             in ~/.zshrc, after compinit',
        '  fish  upshot completion fish | source             in ~/.config/fish/config.fish',
      ].join('\n'),
    )
    .action(async (shell, given) => {
      if (given.length === 0) return cli.out.result({ shell, script: SCRIPTS[shell] }, () => [SCRIPTS[shell]])
      const words = await complete(given, cli)
      const lines = words.map(({ word, help }) => (shell === 'fish' ? `${word}\t${help}` : word))
      cli.out.result({ words }, () => lines)
    })
}

interface Word {
  word: string
  help: string
}

/** Words in place of the last one. There are none where it is a file or a name of the user. */
async function complete(line: readonly string[], cli: Cli): Promise<Word[]> {
  const shared = buildProgram({}, cli.out, () => {})
  let node: CommandNode = { summary: '', commands: cli.tree }
  const leaf: Command = new Command()
  let choices: readonly string[] | null = null
  for (const word of line.slice(0, -1)) {
    const option = [...leaf.options, ...shared.options].find(({ long, short }) => word === long || word === short)
    if (choices !== null) choices = null
    else if (option && (option.required || option.optional)) choices = option.argChoices ?? []
    else if ('commands' in node && Object.hasOwn(node.commands, word)) {
      node = node.commands[word] as CommandNode
      if ('load' in node) (await loadCommand(node))(leaf, cli)
    }
  }
  const last = line.at(-1) ?? ''
  const names = Object.entries('commands' in node ? node.commands : {}).map(([word, { summary }]) => ({
    word,
    help: summary,
  }))
  const values = choices ?? leaf.registeredArguments[0]?.argChoices ?? []
  const options = [...leaf.options, ...shared.options]
    .filter(({ long, hidden }) => long && !hidden)
    .map(({ long = '', description }) => ({ word: long, help: description }))
  const help = { word: '--help', help: 'print the arguments and options of a command' }
  const words = values.map((word) => ({ word, help: '' }))
  const all = choices ? words : [...names, ...words, ...(last.startsWith('-') ? [...options, help] : [])]
  return all.filter(({ word }) => word.startsWith(last))
}
