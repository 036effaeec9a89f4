import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { TEMPLATES, type TemplateName } from '../../../src/cli/commands/app/init.ts'
import { COMMAND_TREE } from '../../../src/cli/commands/command-tree.ts'
import { collectWords, SHELLS, type Shell, writeCompletion } from '../../../src/cli/commands/shell/completion.ts'
import { createOutput, readGlobalOptions } from '../../../src/cli/terminal/output.ts'
import { CHILD_ENVIRONMENT } from '../../support/child-environment.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { runHere } from '../support/run-here.ts'

/** Arguments for a real shell to load the script and complete a line; zsh gets fake builtins. */
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

describe.each(SHELLS)('completion in %s', (shell) => {
  const isMissing = spawnSync(shell, ['--version']).error !== undefined

  async function complete(line: string): Promise<string[]> {
    const out = createOutput(readGlobalOptions([]), { stdout: new PassThrough(), stderr: new PassThrough() })
    const folder = tempFolder()
    mkdirSync(join(folder, 'here'))
    writeFileSync(join(folder, 'here', 'a-file'), '')
    writeFileSync(join(folder, 'script'), writeCompletion(shell, await collectWords(COMMAND_TREE, out)))
    const cwd = join(folder, 'here')
    // A language that this machine lacks would be a warning of the shell.
    const env = { ...CHILD_ENVIRONMENT, LC_ALL: 'C' }
    const args = ASK[shell](join(folder, 'script'), line)
    const { stdout, stderr } = spawnSync(shell, args, { cwd, env, encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.split('\n').flatMap((row) => (row === '' ? [] : (row.split('\t')[0] ?? '')))
  }

  test.skipIf(isMissing).each([
    ['upshot ru', ['runs']],
    [
      'upshot runs ',
      ['answer', 'list', 'summary', 'show', 'retry', 'resolve', 'fork', 'resume', 'cancel', 'tail', 'test'],
    ],
    ['upshot --json runs li', ['list']],
    ['upshot runs list --stat', ['--status']],
    ['upshot runs list --workflow events --stat', ['--status']],
    ['upshot runs list --status comp', ['completed']],
    ['upshot sandbox deliveries l', ['list']],
    ['upshot sandbox deliveries list --ev', ['--event']],
    ['upshot runs list --config a', ['a-file']],
    ['upshot completion zs', ['zsh']],
  ])(`in ${shell}, the line "%s" is completed`, async (line, words) => {
    expect((await complete(line)).sort()).toEqual(words.toSorted())
  })
})

const NAMES = Object.keys(TEMPLATES) as TemplateName[]

/** The words that bash offers with the cursor at the end of these words. */
function completeInBash(script: string, words: string[]): string[] {
  const array = words.map((word) => `'${word}'`).join(' ')
  const probe = `COMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; _upshot; printf '%s\\n' "\${COMPREPLY[@]}"`
  const output = execFileSync('bash', ['-c', `${script}\n${probe}`], { encoding: 'utf8' })
  return output.split('\n').filter((line) => line !== '')
}

test('bash completes commands, options and known values', async () => {
  const { stdout } = await runHere(tempFolder(), ['completion', 'bash'])
  const complete = (...words: string[]) => completeInBash(stdout, ['upshot', ...words])
  expect(complete('')).toEqual(Object.keys(COMMAND_TREE))
  expect(complete('ru')).toEqual(['runs'])
  expect(complete('db', '')).toEqual(['migrate', 'move', 'backup', 'verify', 'prune', 'reseal'])
  expect(complete('--json', 'db', 've')).toEqual(['verify'])
  expect(complete('runs', 'list', '--sta')).toEqual(['--status'])
  expect(complete('runs', 'list', '--status', 'fai')).toEqual(['failed'])
  expect(complete('--config', 'runs', 'db', '')).toEqual(['migrate', 'move', 'backup', 'verify', 'prune', 'reseal'])
  expect(complete('init', '--template', '')).toEqual(NAMES)
  expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
})

test('the script of each shell has every command and option', async () => {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  const words = await collectWords(COMMAND_TREE, createOutput(readGlobalOptions([]), streams))
  const options = words.flatMap(({ words }) => words.map(({ word }) => word.replace(/^--/, '')))
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { json } = await runHere(tempFolder(), ['completion', shell, '--json'])
    expect(options.filter((word) => !json.data.script.includes(word))).toEqual([])
  }
  streams.stderr.end()
  expect(await text(streams.stderr)).toBe('')
})
