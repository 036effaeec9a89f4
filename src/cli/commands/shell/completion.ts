import { Argument, type Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { collectWords } from './collect-words.ts'
import { SHELLS, writeCompletion } from './write-completion.ts'

/** `upshot completion <shell>`: the completion script for a shell's startup file. */
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
