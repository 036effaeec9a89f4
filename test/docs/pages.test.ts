import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { COMMAND_TREE } from '../../src/cli/commands/command-tree.ts'
import { EXIT } from '../../src/cli/terminal/problem.ts'
import { VERDICTS } from '../../src/core/incoming/delivery.ts'
import { SCHEME_PRESETS } from '../../src/core/incoming/signature.ts'
import { CAUSES } from '../../src/core/solver/suspects.ts'
import { FilesClient } from '../../src/files/client.ts'
import * as filesDoor from '../../src/files/index.ts'
import { VARIABLES } from '../../src/project/config/variables.ts'
import { DEFAULT_LIMITS } from '../../src/receive/limits/intake-limit.ts'
import { faultInput } from '../../src/sandbox/faults/fault-rule.ts'
import { someSettings } from '../../src/sandbox/state/settings.ts'
import { parseCronLine } from '../../src/schedule/cron-line.ts'
import { listCommands } from '../support/list-commands.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { commandsOf, namedCommands, pathOf, ROOT, readDecisions, readPages, readWorkPages } from './pages.ts'

const pages = readPages()
const blocks = pages.flatMap((page) => page.blocks)
const inLanguage = (language: string) => blocks.filter((block) => block.language === language)
const textOf = (name: string) => pages.find((page) => page.name === name)?.text ?? ''

/** Languages that a test here, or in `guides.test.ts`, compiles, runs or checks. */
const TESTED = ['ts', 'sh', 'json', 'ini', 'env', 'text', 'yaml', 'nginx', 'caddy', 'cron', 'python']

test('no block of the guides is in a language that nothing tests', () => {
  expect(blocks.filter(({ language }) => !TESTED.includes(language))).toEqual([])
})

test('each TypeScript block of the guides names its path, and no two name the same', () => {
  const paths = inLanguage('ts').map(pathOf)
  expect(paths).not.toContain(undefined)
  expect(paths.toSorted()).toEqual([...new Set(paths)].toSorted())
})

test('every JSON block of the guides is JSON', () => {
  for (const { code } of inLanguage('json')) expect(() => JSON.parse(code)).not.toThrow()
})

test('every variable of an env block of the guides is one that is read', () => {
  const own = /^(ALERT_URL|NODE_ENV)$/
  const named = inLanguage('env').flatMap(({ code }) => Object.keys(parseEnv(code)))
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((name) => !(name in VARIABLES) && !own.test(name))).toEqual([])
})

test('every command that the guides name exists, with every option that they give it', async () => {
  const commands = await listCommands()
  const find = (path: string) => commands.find((each) => each.path === path)
  const faults = pages.flatMap((page) =>
    namedCommands(page).flatMap((command) => {
      const named = command.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
      let path = ''
      for (const word of named) {
        const next = path === '' ? word : `${path} ${word}`
        if (!find(next)) break
        path = next
      }
      const known = find(path)
      const options = named.filter((word) => word.startsWith('--')).map((word) => word.replace(/=.*/, ''))
      const unknown = options.filter((option) => !known?.options.includes(option))
      const next = named[path === '' ? 0 : path.split(' ').length]
      // A group takes no words of its own. Prose may leave open which of its commands it means.
      const isCommand = next === undefined || /^[-…]/.test(next) || !known?.isGroup
      return isCommand && unknown.length === 0 ? [] : [`${page.name}: upshot ${command}`]
    }),
  )
  expect(faults).toEqual([])
})

/** Options that every command takes, or every command of the sandbox. */
const COMMON =
  /^--(json|ndjson|quiet|verbose|no-color|no-input|yes|dry-run|reason|server|token-file|config|version|help)$/
const OF_THE_SANDBOX = /^--(url|dir)$/

test('every command has a row in docs/commands.md that names all of its own options', async () => {
  const commands = await listCommands()
  const rows = textOf('docs/commands.md').split('\n')
  const faults = commands
    .filter(({ isGroup }) => !isGroup)
    .flatMap(({ path, options }) => {
      const row = rows.find((line) => line.startsWith(`| \`upshot ${path}\``) || line.startsWith(`| \`upshot ${path} `))
      const isCommon = (word: string) =>
        COMMON.test(word) || (path !== 'sandbox start' && path.startsWith('sandbox') && OF_THE_SANDBOX.test(word))
      const own = options.filter((word) => !isCommon(word))
      const missing = row === undefined ? ['no row'] : own.filter((word) => !new RegExp(`\`${word}\\b`).test(row))
      return missing.map((word) => `${path}: ${word}`)
    })
  expect(faults).toEqual([])
})

test('every option that docs/commands.md names in the row of a command exists', async () => {
  const commands = await listCommands()
  const faults = [
    ...textOf('docs/commands.md').matchAll(/^\| `upshot ([a-z -]+?)(?: [[<].*?)?` \|.*\| ?(.*?) ?\|$/gm),
  ].flatMap(([, path = '', options = '']) => {
    const known = commands.find((each) => each.path === path)?.options
    const named = [...options.matchAll(/`(--[a-z-]+)/g)].map(([, word = '']) => word)
    return named.filter((word) => !known?.includes(word)).map((word) => `${path}: ${word}`)
  })
  expect(faults).toEqual([])
})

test('docs/commands.md explains every exit code', () => {
  const codes = [...textOf('docs/commands.md').matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))
  expect(codes).toEqual([0, ...Object.values(EXIT)])
})

/** Settings of the project file, those of `receive` aside. */
const SETTINGS = [
  'workflows',
  'slots',
  'drain',
  'publicUrl',
  ...['runs', 'failures', 'refusals', 'deliveries', 'payloads'].map((name) => `retention.${name}`),
]

test('docs/configuration.md explains every variable that is read, and every setting of the project file', () => {
  const text = textOf('docs/configuration.md')
  const settings = [...SETTINGS, ...Object.keys(DEFAULT_LIMITS).map((name) => `receive.${name}`)]
  const names = [...Object.keys(VARIABLES), ...settings]
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})

test('the guides explain every verdict, every cause of a mismatch and every preset', () => {
  const find = (name: string) => textOf(`docs/${name}.md`)
  const explains = (text: string, words: readonly string[]) => words.filter((word) => !text.includes(`\`${word}\``))
  expect(explains(find('endpoints'), [...Object.keys(VERDICTS), ...Object.keys(SCHEME_PRESETS)])).toEqual([])
  expect(explains(find('signatures'), CAUSES)).toEqual([])
})

test('docs/files.md explains every call of the Files client and every class of its errors', () => {
  const text = textOf('docs/files.md')
  const notCalls = /^(constructor|pages|listAnew|within|stop)$/
  const calls = Object.getOwnPropertyNames(FilesClient.prototype).filter((name) => !notCalls.test(name))
  const errors = Object.keys(filesDoor).filter((name) => name.endsWith('Error'))
  expect([...calls, ...errors].filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})

test('docs/sandbox.md explains every setting, every field of a fault and every call of the control API', () => {
  const text = textOf('docs/sandbox.md')
  const folder = join(ROOT, 'src/sandbox/control')
  const calls = readdirSync(folder).flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/'((?:GET|POST|PUT|PATCH|DELETE) \/[^']*)'/g)].map(
      ([, call = '']) => call,
    ),
  )
  expect(calls.length).toBeGreaterThan(30)
  const names = [...calls, ...Object.keys(someSettings.shape), ...Object.keys(faultInput.shape)]
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  // Each call stands in an example, too.
  const examples = text.replace(/^\|.*$/gm, '')
  const paths = calls.map(
    (call) =>
      call
        .split(' ')[1]
        ?.replace(/:storage/, 'storage_a')
        .split(':')[0] ?? '',
  )
  expect(paths.filter((path) => !examples.includes(`SANDBOX${path}`))).toEqual([])
})

test('every cron line of the guides is valid', () => {
  const named = pages.flatMap(({ text }) => [...text.matchAll(/[`'](([\d*/,-]+ ){4}[\d*/,-]+)[`']/g)])
  expect(named.length).toBeGreaterThan(2)
  for (const [, line = ''] of named) expect(() => parseCronLine(line, 'UTC')).not.toThrow()
})

test('docs/libraries.md names every library of the manifest', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = [...textOf('docs/libraries.md').matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names = '']) =>
    names.split(/[,:] /),
  )
  const libraries = Object.keys({ ...dependencies, ...devDependencies })
  expect(libraries.filter((name) => !named.includes(name))).toEqual([])
})

test('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const project = JSON.parse(readFileSync(join(ROOT, 'templates/shared/_package.json'), 'utf8'))
  const ofProjects = /^docs\/(?!libraries|commands|recipes)\w+\.md$/
  // The tutorial begins in a clone, and goes on in a project.
  const inBoth = { ...scripts, ...project.scripts }
  const scriptsOf = (name: string) =>
    name === 'docs/tutorial.md' ? inBoth : ofProjects.test(name) ? project.scripts : scripts
  const faults = [...pages, ...readWorkPages(), ...readDecisions()].flatMap(({ name, text }) =>
    [...text.matchAll(/npm run (?:-s )?([a-z:]+)/g)]
      .filter(([, script = '']) => !(script in scriptsOf(name)))
      .map(([command]) => `${name}: ${command}`),
  )
  expect(faults).toEqual([])
})

/**
 * A folder that looks like `/srv/automations` on a server, to which units and files of the guide
 * refer.
 */
function serverFolder(): string {
  const folder = tempFolder()
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'node_modules/.bin/upshot'), '#!/bin/sh\n', { mode: 0o755 })
  return folder
}

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test('every systemd unit of the guides runs a command that exists, and names each setting once', () => {
  const units = inLanguage('ini')
  expect(units.length).toBeGreaterThan(0)
  for (const { code } of units) {
    expect(code).toMatch(/^\[Unit\]$[\s\S]*^\[Service\]$/m)
    const settings = [...code.matchAll(/^(\w+)=/gm)].map(([, name = '']) => name)
    expect(settings).toEqual([...new Set(settings)])
    expect(code.split('\n').filter((line) => !/^(\[\w+\]|#.*|\w+=.*|)$/.test(line))).toEqual([])
  }
})

test.skipIf(!hasSystemd)('systemd finds nothing wrong with any unit of the guides', () => {
  const folder = serverFolder()
  for (const { code } of inLanguage('ini')) {
    const unit = join(folder, 'upshot.service')
    writeFileSync(unit, code.replaceAll('/srv/automations', folder))
    const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    // The output also has faults of this machine's own units.
    const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('upshot.service'))
    expect([ours, status]).toEqual([[], 0])
  }
})

const INSTRUCTION = /^(FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|HEALTHCHECK|ENTRYPOINT|CMD)\b/

/** The instructions of a container file, each on one line. */
function instructionsOf(path: string): string[] {
  const lines = readFileSync(join(ROOT, path), 'utf8').replaceAll('\\\n', ' ').split('\n')
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

test.each(['Dockerfile', 'templates/shared/Dockerfile'])(
  '%s has a user, its checks of health are programs that compile, and it calls commands that exist',
  (path) => {
    const lines = instructionsOf(path)
    expect(lines[0]).toMatch(/^FROM node:24-slim AS /)
    expect(lines.filter((line) => !INSTRUCTION.test(line))).toEqual([])
    const healthChecks = lines
      .filter((line) => line.startsWith('HEALTHCHECK'))
      .map((line) => line.replace(/.* CMD /, ''))
    for (const check of healthChecks) {
      const [node, flag, code] = JSON.parse(check)
      expect([node, flag]).toEqual(['node', '-e'])
      expect(() => new Script(code)).not.toThrow()
    }
    const commands = lines
      .flatMap((line) => /^(?:CMD|ENTRYPOINT) (.*)/.exec(line)?.[1] ?? [])
      .map((json) => JSON.parse(json))
    const called = commands.filter(([command, word]) => command === 'upshot' && word !== undefined)
    expect(called.filter(([, word]) => !(word in COMMAND_TREE))).toEqual([])
    expect(lines.filter((line) => line === 'USER node')).toHaveLength(commands.length - (path === 'Dockerfile' ? 1 : 0))
    const named = lines.flatMap((line) => (line.startsWith('ENV ') ? Object.keys(parseEnv(line.slice(4))) : []))
    expect(named.filter((name) => !(name in VARIABLES) && !['NODE_ENV', 'PATH'].includes(name))).toEqual([])
  },
)

test('the container file of a project copies what a project has, and its context lets it through', () => {
  const project = join(tempFolder(), 'project')
  execFileSync(process.execPath, [join(ROOT, 'src/cli/main.js'), 'init', project], { stdio: 'pipe' })
  writeFileSync(join(project, 'package-lock.json'), '{}')
  const lines = instructionsOf('templates/shared/Dockerfile').filter((line) => !line.includes('--from='))
  const copied = lines.flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
  expect(copied.filter((path) => !path.includes('*') && !existsSync(join(project, path)))).toEqual([])
  const context = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n')
  expect(copied.filter((path) => !context.includes(`!${path}`))).toEqual([])
})

test('shell blocks of the guides hold only commands that are tested, and npm', () => {
  const known = /^(upshot|docker|npm|npx|cp|openssl|curl|cat|printf|echo|mkdir|cd|export|unset|rm|kill) /
  const others = inLanguage('sh').flatMap((block) => commandsOf(block).filter((command) => !known.test(command)))
  expect(others).toEqual([])
})

test('the proxies of the guides pass on the path of deliveries to the port of the receiver, and nothing else', () => {
  const samples = [...inLanguage('nginx'), ...inLanguage('caddy')]
  expect(samples).toHaveLength(2)
  for (const { code } of samples) {
    expect(code.match(/\{(?!\w)/g)?.length).toBe(code.match(/\}/g)?.length)
    expect([...code.matchAll(/(?:location|handle) (\S+)/g)].map(([, path]) => path?.replace('*', ''))).toEqual([
      '/hooks/',
    ])
    expect([...code.matchAll(/:(\d{4})\b/g)].map(([, port]) => port)).toEqual(['4700'])
  }
})

test('the workflow of GitHub Actions calls commands with options that exist', () => {
  const actions = inLanguage('yaml').filter(({ code }) => code.startsWith('# .github/'))
  const calls = actions.flatMap(({ code }) => [...code.matchAll(/npx upshot (\w+) (.*)/g)])
  expect(calls.map(([, name]) => name)).toEqual(['backtest', 'backtest'])
  const source = readFileSync(join(ROOT, 'src/cli/commands/safety/backtest/backtest-options.ts'), 'utf8')
  const options = calls.flatMap(([, , rest = '']) => [...rest.matchAll(/--[\w-]+/g)].map(([option]) => option))
  expect(options).toHaveLength(7)
  expect(options.filter((option) => !source.includes(`'${option} <`))).toEqual([])
})

test('the compose file of the guides keeps the data, publishes no port of ours, and waits for the drain', () => {
  const all = inLanguage('yaml').filter(({ code }) => !code.startsWith('# .github/'))
  const [compose, ...others] = all.map(({ code }) => code)
  expect(others).toEqual([])
  expect(compose).toContain('- data:/data')
  expect([...(compose ?? '').matchAll(/"(\d+):\d+"/g)].map(([, port]) => port)).toEqual(['80', '443'])
  expect(Number(/stop_grace_period: (\d+)s/.exec(compose ?? '')?.[1])).toBeGreaterThanOrEqual(30)
  for (const line of (compose ?? '').split('\n')) expect((/^ */.exec(line)?.[0].length ?? 0) % 2).toBe(0)
})

test('the cron lines of the guides are valid, and call commands that exist', () => {
  const lines = inLanguage('cron').flatMap(({ code }) => code.trim().split('\n'))
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) {
    expect(() => parseCronLine(line.split(' ').slice(0, 5).join(' '), 'UTC')).not.toThrow()
    expect(line).toMatch(/upshot db backup \S+ /)
    expect(line.replaceAll('\\%', '')).not.toContain('%')
  }
})
