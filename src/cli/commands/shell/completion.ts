import { Argument, type Command } from '@commander-js/extra-typings'
import type { CommandTree } from '../../command.ts'
import type { Output } from '../../terminal/output.ts'
import { collectWords } from './collect-words.ts'
import { SHELLS, writeCompletion } from './write-completion.ts'

/** `upshot completion <shell>`: a script for the shell's start-up file. */
export function define(command: Command, out: Output, tree: CommandTree): void {
  command
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
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
