import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import {
  packageName,
  planProject,
  TEMPLATES,
  type TemplateName,
} from '../../../../src/cli/commands/app/project-files.ts'
import { COMMAND_TREE } from '../../../../src/cli/commands/command-tree.ts'
import { collectWords } from '../../../../src/cli/commands/shell/collect-words.ts'
import { createOutput, readGlobalOptions } from '../../../../src/cli/terminal/output.ts'
import { explainConfig } from '../../../../src/project/config/explain-config.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { WEBHOOK_SECRET } from '../../../support/test-config.ts'
import { runCli } from '../../support/run-cli.ts'

// Each starts processes, which take their time where the machine is busy.
vi.setConfig({ testTimeout: 120_000 })

const ROOT = join(import.meta.dirname, '../../../..')
const NAMES = Object.keys(TEMPLATES) as TemplateName[]
const filesOf = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()

test.each(NAMES)('init makes a whole project of the template "%s", and says what is next', async (template) => {
  const dir = join(tempFolder(), 'My Automations!')
  const { exit, json } = await runCli(tempFolder(), ['init', dir, '--template', template, '--json'])
  expect({ exit, data: json.data }).toMatchObject({ exit: 0, data: { dir, template, made: true } })
  expect(json.data.next.slice(1)).toEqual(['npm install', 'npm run dev'])
  const files = filesOf(dir)
  for (const name of [
    'package.json',
    'tsconfig.json',
    'README.md',
    '.gitignore',
    '.env.example',
    'config/upshot.config.ts',
  ])
    expect(files).toContain(name)
  expect(files.filter((name) => name.endsWith('.workflow.ts')).length).toBeGreaterThan(0)
  expect(files.filter((name) => name.endsWith('.workflow.test.ts')).length).toBeGreaterThan(0)
  expect(files.filter((name) => name.startsWith('_'))).toEqual([])
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: 'my-automations', dependencies: { upshot: `^${version}` } })
})

test('a project is checked by the tools that we are checked by', () => {
  const { devDependencies: ours } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const manifest = planProject('minimal', 'x').find(({ path }) => path === 'package.json')?.content ?? ''
  for (const [name, version] of Object.entries(JSON.parse(manifest).devDependencies)) expect(version).toBe(ours[name])
})

test('the variables of the example are those that are read, and every file of a README exists', async () => {
  for (const template of NAMES) {
    const files = planProject(template, 'x')
    const find = (path: string) => files.find((file) => file.path === path)?.content ?? ''
    const read =
      files.map(({ content }) => content).join('\n') +
      readFileSync(join(ROOT, 'src/project/config/variables.ts'), 'utf8')
    const named = [...find('.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name ?? '')
    expect(named.filter((name) => !new RegExp(`${name}[:\\s]`).test(read.replace(/^#?[A-Z_]+=.*$/gm, '')))).toEqual([])
    const linked = [...find('README.md').matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, path]) => path ?? '')
    expect(linked.filter((path) => find(path) === '')).toEqual([])
  }
})

test('init names every file that is in the way, and then makes none', async () => {
  const dir = tempFolder()
  mkdirSync(join(dir, 'config'))
  writeFileSync(join(dir, 'package.json'), 'mine')
  writeFileSync(join(dir, 'config/upshot.config.ts'), 'mine')
  const { exit, json } = await runCli(tempFolder(), ['init', dir, '--yes', '--json'])
  expect({ exit, error: json.error }).toMatchObject({ exit: 1, error: { code: 'conflict' } })
  expect(json.error.message).toContain('config/upshot.config.ts, package.json')
  expect(filesOf(dir)).toEqual(['config', 'config/upshot.config.ts', 'package.json'])
  expect(readFileSync(join(dir, 'package.json'), 'utf8')).toBe('mine')
})

test('init --dry-run says what it would make', async () => {
  const dir = join(tempFolder(), 'new')
  const { exit, stdout } = await runCli(tempFolder(), ['init', dir, '--dry-run'])
  expect({ exit, isThere: existsSync(dir) }).toEqual({ exit: 0, isThere: false })
  expect(stdout).toContain('workflows/record-arrival.workflow.ts')
})

test.each([
  ['/srv/My Things', 'my-things'],
  ['/srv/upshot', 'my-automations'],
  ['/srv/___', 'my-automations'],
  ['/srv/Ünïcode.js', 'n-code-js'],
])('a project in %s is named %s', (dir, name) => {
  expect(packageName(dir)).toBe(name)
})

test('says where each setting comes from: flag, environment, .env, file, default', async () => {
  const root = tempFolder()
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config/upshot.config.ts'), `export default { slots: 7, drain: '3s' }`)
  const environment = { UPSHOT_HOST: '0.0.0.0', UPSHOT_PORT: '4800', UPSHOT_LOG_LEVEL: 'warn' }
  const settings = await explainConfig(environment, root, {
    flags: { UPSHOT_PORT: { flag: '--port', value: '4900' } },
    adopted: new Set(['UPSHOT_LOG_LEVEL']),
  })
  const find = (name: string) => settings.find(({ setting }) => setting === name)
  expect(find('UPSHOT_PORT')).toMatchObject({ value: '4900', origin: 'flag', from: '--port' })
  expect(find('UPSHOT_HOST')).toMatchObject({ value: '0.0.0.0', origin: 'environment' })
  expect(find('UPSHOT_LOG_LEVEL')).toMatchObject({ value: 'warn', origin: '.env' })
  expect(find('slots')).toMatchObject({ value: '7', origin: 'file', from: 'config/upshot.config.ts' })
  expect(find('drainMs')).toMatchObject({ value: '3000', origin: 'file' })
  expect(find('receive.bodyBytes')).toMatchObject({ origin: 'default' })
  expect(find('UPSHOT_ADMIN_PORT')).toMatchObject({ value: '4701', origin: 'default' })
})

test('shows that a secret is set, and nothing of it', async () => {
  const env = {
    ...{
      SERVICE_BASE_URL: 'https://api.example.com/v1',
      SERVICE_API_KEY: 'canary-key',
      SERVICE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    },
    ...{ SERVICE_STORAGE_A: 'a', SERVICE_STORAGE_B: 'b', SERVICE_STORAGE_C: 'c', UPSHOT_SECRET_KEY: 'canary-vault' },
  }
  for (const form of [['--json'], ['--ndjson'], []]) {
    const { exit, stdout, stderr } = await runCli(tempFolder(), ['config', 'show', '--origins', ...form], { env })
    expect(exit).toBe(0)
    expect(stdout).toContain('(hidden)')
    for (const secret of ['canary', WEBHOOK_SECRET]) expect(stdout + stderr).not.toContain(secret)
  }
})

test('reads the project file that --config names, and refuses one that is not there', async () => {
  const file = join(tempFolder(), 'other.config.ts')
  writeFileSync(file, 'export default { slots: 9 }')
  const shown = await runCli(tempFolder(), ['config', 'show', '--config', file, '--json'])
  expect(shown.json.data).toContainEqual({ setting: 'slots', value: '9' })
  const missing = await runCli(tempFolder(), ['runs', 'list', '--config', '/nowhere.ts', '--json'])
  expect(missing).toMatchObject({ exit: 2, json: { error: { code: 'invalid_config' } } })
})

/** What bash offers where the cursor is at the end of these words. */
function completeInBash(script: string, words: string[]): string[] {
  const array = words.map((word) => `'${word}'`).join(' ')
  const probe = `COMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; _upshot; printf '%s\\n' "\${COMPREPLY[@]}"`
  const output = execFileSync('bash', ['-c', `${script}\n${probe}`], { encoding: 'utf8' })
  return output.split('\n').filter((line) => line !== '')
}

test('completes commands, options and known values in bash', async () => {
  const { stdout } = await runCli(tempFolder(), ['completion', 'bash'])
  const complete = (...words: string[]) => completeInBash(stdout, ['upshot', ...words])
  expect(complete('')).toEqual(Object.keys(COMMAND_TREE))
  expect(complete('ru')).toEqual(['runs'])
  expect(complete('db', '')).toEqual(['backup', 'verify', 'prune', 'reseal'])
  expect(complete('--json', 'db', 've')).toEqual(['verify'])
  expect(complete('runs', 'list', '--sta')).toEqual(['--status'])
  expect(complete('runs', 'list', '--status', 'fai')).toEqual(['failed'])
  expect(complete('--config', 'runs', 'db', '')).toEqual(['backup', 'verify', 'prune', 'reseal'])
  expect(complete('init', '--template', '')).toEqual(NAMES)
  expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
})

test('knows every command and option of the tree in each shell', async () => {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  const words = await collectWords(COMMAND_TREE, createOutput(readGlobalOptions([]), streams))
  const options = words.flatMap(({ words }) => words.map(({ word }) => word.replace(/^--/, '')))
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { json } = await runCli(tempFolder(), ['completion', shell, '--json'])
    expect(options.filter((word) => !json.data.script.includes(word))).toEqual([])
  }
  streams.stderr.end()
  expect(await text(streams.stderr)).toBe('')
})
