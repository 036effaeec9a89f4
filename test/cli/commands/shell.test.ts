import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TEMPLATES, type TemplateName } from '../../../src/cli/commands/app/init.ts'
import { COMMAND_TREE } from '../../../src/cli/commands/command-tree.ts'
import { SHELLS, type Shell } from '../../../src/cli/commands/shell/completion.ts'
import { CHILD_ENVIRONMENT } from '../../support/child-environment.ts'
import { listCommands } from '../../support/list-commands.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { runHere } from '../support/run-here.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../src/cli/main.js')

/** Arguments for a real shell to load the script and complete a line; zsh gets fake builtins. */
const ASK: Record<Shell, (line: string) => string[]> = {
  bash: (line) => [
    '--norc',
    '-c',
    `source script
     COMP_WORDS=(${line.replace(/ $/, ' ""')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _upshot
     if [ \${#COMPREPLY[@]} -eq 0 ]; then compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"; fi
     printf '%s\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: (line) => [
    '-f',
    '-c',
    `compdef() { : }
     compadd() { shift; print -l -- $@ }
     _files() { print -l -- $words[CURRENT]*(N) }
     source script
     words=(${line.replace(/ $/, ' ""')}); CURRENT=$#words; _upshot`,
  ],
  fish: (line) => ['--no-config', '-c', `source script; complete -C '${line}'`],
}

describe.each(SHELLS)('completion in %s', (shell) => {
  const isMissing = spawnSync(shell, ['--version']).error !== undefined

  test.skipIf(isMissing).each([
    ['upshot runs tai', ['tail']],
    ['upshot --json runs list --stat', ['--status']],
    ['upshot version a-', ['a-file']],
  ])(`in ${shell}, the line "%s" is completed`, async (line, words) => {
    const cwd = tempFolder()
    writeFileSync(join(cwd, 'a-file'), '')
    writeFileSync(join(cwd, 'script'), (await runHere(cwd, ['completion', shell])).stdout)
    symlinkSync(PROGRAM, join(cwd, 'upshot'))
    // A language that this machine lacks would be a warning of the shell.
    const env = { ...CHILD_ENVIRONMENT, LC_ALL: 'C', PATH: `${cwd}:${CHILD_ENVIRONMENT.PATH}` }
    const { stdout, stderr } = spawnSync(shell, ASK[shell](line), { cwd, env, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout.split('\n').flatMap((row) => row.split('\t')[0] || [])).toEqual(words)
  })
})

const NAMES = Object.keys(TEMPLATES) as TemplateName[]

test('commands, options and known values are completed, and what a file may be is left to the shell', async () => {
  const folder = tempFolder()
  const complete = async (...words: string[]) => {
    const { json } = await runHere(folder, ['completion', 'bash', '--json', '--', ...words])
    return json.data.words.map(({ word }: { word: string }) => word)
  }
  const db = Object.keys((COMMAND_TREE.db as { commands: object }).commands)
  expect(await complete('')).toEqual(Object.keys(COMMAND_TREE))
  expect(await complete('ru')).toEqual(['runs'])
  expect(await complete('db', '')).toEqual(db)
  expect(await complete('--json', 'db', 've')).toEqual(['verify'])
  expect(await complete('--config', 'runs', 'db', '')).toEqual(db)
  expect(await complete('runs', 'list', '--workflow', 'events', '--stat')).toEqual(['--status'])
  expect(await complete('runs', 'list', '--status', 'fai')).toEqual(['failed'])
  expect(await complete('runs', 'list', '--config', '')).toEqual([])
  expect(await complete('runs', 'show', '')).toEqual([])
  expect(await complete('init', '--template', '')).toEqual(NAMES)
  expect(await complete('completion', '')).toEqual(SHELLS)
  for (const { path, options, isGroup } of await listCommands()) {
    if (!isGroup) expect((await complete(...path.split(' '), '-')).sort()).toEqual(options.sort())
  }
})
