import { Argument, type Command } from '@commander-js/extra-typings'
import { COMMANDS } from '../command-tree.ts'
import { SHELLS, writeCompletion } from '../completion.ts'
import type { Output } from '../output.ts'
import { collectWords } from '../program.ts'

/** `upshot completion <shell>`: a script for the shell's start-up file. */
export function define(command: Command, out: Output): void {
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
      const script = writeCompletion(shell, await collectWords(COMMANDS, out))
      out.result({ shell, script }, () => [script])
    })
}
