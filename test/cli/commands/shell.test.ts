import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { COMMAND_TREE } from '../../../src/cli/commands/command-tree.ts'
import { collectWords } from '../../../src/cli/commands/shell/collect-words.ts'
import { SHELLS, type Shell, writeCompletion } from '../../../src/cli/commands/shell/write-completion.ts'
import { createOutput, readGlobalOptions } from '../../../src/cli/terminal/output.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/**
 * Has the real shell read the script and say what may follow a line; zsh's own functions for a
 * terminal are stood in for.
 */
const ASK: Record<Shell, (script: string, line: string) => string[]> = {
  bash: (script, line) => [
    '--norc',
    '-c',
    `source ${script}
     COMP_WORDS=(${line.replace(/ $/, ' ""')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _upshot
     printf '%s\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: (script, line) => [
    '-f',
    '-c',
    `compdef() { : }
     compadd() { shift; print -l -- \${(M)@:#$words[CURRENT]*} }
     _files() { print -l -- $words[CURRENT]*(N) }
     source ${script}
     words=(${line.replace(/ $/, ' ""')}); CURRENT=$#words; _upshot`,
  ],
  fish: (script, line) => ['--no-config', '-c', `source ${script}; complete -C '${line}'`],
}

describe.each(SHELLS)('in %s', (shell) => {
  const isMissing = spawnSync(shell, ['--version']).error !== undefined

  async function complete(line: string): Promise<string[]> {
    const out = createOutput(readGlobalOptions([]), { stdout: new PassThrough(), stderr: new PassThrough() })
    const folder = tempFolder()
    mkdirSync(join(folder, 'here'))
    writeFileSync(join(folder, 'here', 'a-file'), '')
    writeFileSync(join(folder, 'script'), writeCompletion(shell, await collectWords(COMMAND_TREE, out)))
    const cwd = join(folder, 'here')
    const { stdout, stderr } = spawnSync(shell, ASK[shell](join(folder, 'script'), line), { cwd, encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.split('\n').flatMap((row) => (row === '' ? [] : (row.split('\t')[0] ?? '')))
  }

  test.skipIf(isMissing).each([
    ['upshot ru', ['runs']],
    ['upshot runs ', ['list', 'show', 'retry', 'fork', 'resume', 'cancel', 'tail']],
    ['upshot --json runs li', ['list']],
    ['upshot runs list --stat', ['--status']],
    ['upshot runs list --workflow events --stat', ['--status']],
    ['upshot runs list --status comp', ['completed']],
    ['upshot sandbox deliveries l', ['list']],
    ['upshot sandbox deliveries list --ev', ['--event']],
    ['upshot runs list --config a', ['a-file']],
    ['upshot sandbox fault add down', ['download']],
  ])('%s is completed', async (line, words) => {
    expect((await complete(line)).sort()).toEqual(words.toSorted())
  })
})
