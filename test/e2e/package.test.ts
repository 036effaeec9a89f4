import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { TEMPLATES } from '../../src/cli/commands/app/init.ts'
import { readRuntimeFile } from '../../src/project/data-dir/runtime-file.ts'
import { CHILD_ENVIRONMENT, REGISTRY_ENVIRONMENT } from '../support/child-environment.ts'
import { hasOwnNode, OWN_PATH } from '../support/own-node.ts'
import { followLog } from '../support/process-log.ts'
import { FREE_PORTS } from '../support/start-process.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const COPIED = [
  'bench/README.md',
  'docs',
  'examples',
  'src',
  'packaging',
  'style',
  'templates',
  'workflows',
  'config',
  'tsconfig.json',
  'package.json',
  'README.md',
  'LICENSE',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'SUPPORT.md',
]
/** No settings of this machine, and the Node that runs the tests. */
const ENVIRONMENT = {
  ...CHILD_ENVIRONMENT,
  ...REGISTRY_ENVIRONMENT,
  PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
  HOME: process.env.HOME ?? '',
}

let folder: string
let repository: string
let project: string
let tarballPath: string
/** Standard error of the installation. */
let warnings: string

function run(
  command: string,
  args: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
    env: { ...ENVIRONMENT, ...env },
    maxBuffer: 64 * 1024 ** 2,
  })
}

const upshot = (cwd: string, args: string[]) => run(join(cwd, 'node_modules/.bin/upshot'), args, { cwd })

/** Makes a project from a template that shares one installed package. */
function makeProject(template: string): string {
  const dir = join(mkdtempSync(join(folder, 'own-')), template)
  upshot(project, ['init', dir, '--template', template])
  symlinkSync(join(project, 'node_modules'), join(dir, 'node_modules'))
  return dir
}

// A copy is packed: a build replaces `dist`, which other tests read.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'upshot-package-'))
  repository = join(folder, 'repository')
  mkdirSync(repository)
  for (const name of COPIED) cpSync(join(ROOT, name), join(repository, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(repository, 'node_modules'))
  run('npm', ['run', 'package', '--', '--pack-destination', folder], { cwd: repository })
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
  project = join(folder, 'project')
  run(process.execPath, [join(ROOT, 'src/cli/main.js'), 'init', project], { cwd: folder })
  tarballPath = join(folder, tarball)
  const env = hasOwnNode ? { PATH: OWN_PATH } : {}
  const install = ['install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund']
  run('npm', [...install, tarballPath], { cwd: project, env })
  const installed = spawnSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...ENVIRONMENT, ...env },
  })
  expect(installed.status, installed.stderr).toBe(0)
  warnings = installed.stderr
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const installed = (path = '') => join(project, 'node_modules/upshot', path)

test('a pack leaves the manifest of the repository as it was, also one that fails', () => {
  const pack = () => run(process.execPath, ['packaging/pack.ts', '--pack-destination', '/absent'], { cwd: repository })
  expect(pack).toThrow('ENOENT')
  expect(() => run('npm', ['pack'], { cwd: repository })).toThrow('Use npm run package')
  expect(readFileSync(join(repository, 'package.json'), 'utf8')).toBe(readFileSync(join(ROOT, 'package.json'), 'utf8'))
})

test('each page of the package finds what it links to', () => {
  const pages = readdirSync(installed(), { recursive: true, encoding: 'utf8' }).filter((name) => /\.md$/.test(name))
  const links = pages.flatMap((page) =>
    [
      ...readFileSync(installed(page), 'utf8')
        .replace(/^```.*?^```/gms, '')
        .matchAll(/\]\(([^)#:]+)[)#]/g),
    ].map(([, path = '']) => join(page, '..', path)),
  )
  expect(links.length).toBeGreaterThan(400)
  expect(links.filter((path) => !existsSync(installed(path)))).toEqual([])
})

test('the package has JavaScript, types and maps for every export, and the command', () => {
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const { exports: doors, bin, engines, devDependencies } = JSON.parse(readFileSync(installed('package.json'), 'utf8'))
  expect(Object.keys(doors)).toEqual([...Object.keys(ours.exports), './package.json'])
  expect(Object.keys(doors)).toEqual(expect.arrayContaining(['.', './testing', './files', './sandbox']))
  for (const name of Object.keys(ours.exports)) {
    const { types, default: code } = doors[name]
    for (const path of [types, code, `${types}.map`]) expect(existsSync(installed(path)), path).toBe(true)
  }
  expect(bin).toEqual({ upshot: './dist/cli/main.js' })
  expect(engines).toEqual({ node: '>=24' })
  expect(devDependencies).toBeUndefined()
})

/** The files of the bundle, with our sources in their maps. One that only imports has none. */
function readBundle(): { file: string; code: string; sources: string[] }[] {
  const files = readdirSync(installed('dist'), { recursive: true, encoding: 'utf8' })
  const bundled = files.filter((file) => file.endsWith('.js') && !/^dashboard\/|^sandbox\/pages\//.test(file))
  return bundled.map((file) => {
    const path = installed(`dist/${file}`)
    const map = existsSync(`${path}.map`) ? readFileSync(`${path}.map`, 'utf8') : '{ "sources": [] }'
    const named = (JSON.parse(map).sources as string[]).map((name) => relative(installed(), resolve(path, '..', name)))
    const sources = named.filter((source) => source.startsWith('src/'))
    return { file, code: readFileSync(path, 'utf8'), sources }
  })
}

/** The files that are read before the code of this one runs. */
function importsOf(file: string, code: string): string[] {
  const imports = code.matchAll(/^(?:import|export) .*?(?:from )?"(\.[^"]+)";$/gm)
  return [...imports].map(([, name = '']) => join(file, '..', name))
}

test.each(['cli', 'app'])('the program of %s reads nothing but the check of Node before that has passed', (room) => {
  const bundle = readBundle()
  const readFirst = (file: string): string[] => {
    const { code, sources } = bundle.find((each) => each.file === file) ?? { code: '', sources: [] }
    return [...sources, ...importsOf(file, code).flatMap(readFirst)]
  }
  const check = 'src/project/process-setup.js'
  expect(readFirst(`${room}/main.js`)).toEqual([`src/${room}/main.js`, check])
})

test('each module is in the bundle once, with a map to a source that the package has', () => {
  const sources = readBundle().flatMap((chunk) => chunk.sources)
  expect(sources.filter((source) => !existsSync(installed(source)))).toEqual([])
  expect(sources.filter((source, at) => sources.indexOf(source) !== at)).toEqual([])
  expect(sources.length).toBeGreaterThan(800)
})

test('a stack trace tells by its paths which code is that of the client, and which watches author code', () => {
  for (const folder of ['files/', 'engine/pass/']) {
    const chunks = readBundle().filter(({ sources }) => sources.length > 0)
    const apart = chunks.filter(({ sources }) => sources.some((source) => source.startsWith(`src/${folder}`)))
    expect(apart.length).toBeGreaterThan(0)
    expect(apart.filter(({ file }) => !file.startsWith(folder))).toEqual([])
    expect(apart.flatMap(({ sources }) => sources).filter((source) => !source.startsWith(`src/${folder}`))).toEqual([])
  }
})

test('no files of the bundle import each other in a circle, so each module runs after what it imports', () => {
  const chunks = new Map(readBundle().map(({ file, code }) => [file, code]))
  const ended = new Set<string>()
  const walk = (file: string, path: readonly string[]) => {
    expect(path, 'a circle').not.toContain(file)
    if (ended.has(file)) return
    for (const imported of importsOf(file, chunks.get(file) ?? '')) walk(imported, [...path, file])
    ended.add(file)
  }
  for (const file of chunks.keys()) walk(file, [])
  expect(ended.size).toBe(chunks.size)
})

test('each door gives the names that it gives here', async () => {
  const doors: Record<string, string> = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).exports
  const code = `const names = {}
    for (const door of ${JSON.stringify(Object.keys(doors))})
      names[door] = Object.keys(await import(door.replace('.', 'upshot'))).sort()
    console.log(JSON.stringify(names))`
  const names = JSON.parse(run(process.execPath, ['--input-type=module', '-e', code], { cwd: project }))
  for (const [door, source] of Object.entries(doors))
    expect(names[door], door).toEqual(Object.keys(await import(join(ROOT, source))).sort())
})

test('a schema of the author’s own copy of zod is checked, also around one of ours', () => {
  const code = `import { z } from 'zod'
    import { z as ours, defineEvent, defineWorkflow, storageName } from 'upshot'
    import { testbed } from 'upshot/testing'
    const asked = defineEvent('asked', { data: z.object({ size: z.number().min(3), from: storageName }) })
    const workflow = defineWorkflow({ id: 'sizes', on: asked, run: ({ event }) => event.data.size })
    const ends = []
    for (const size of [5, 1]) {
      await using t = await testbed({ workflows: [workflow] })
      await t.send(asked, { size, from: 'storage_a' })
      const { status, output } = t.run(workflow)
      ends.push([status, output])
    }
    console.log(JSON.stringify([z === ours, ends]))`
  const answer = run(process.execPath, ['--input-type=module', '-e', code], { cwd: project })
  expect(JSON.parse(answer)).toEqual([
    false,
    [
      ['completed', 5],
      ['waiting', null],
    ],
  ])
})

test('a stack trace names the line of the source where Node is asked for source maps', () => {
  const code = `import { defineWorkflow } from 'upshot'
    try { defineWorkflow({ id: 'Not an id' }) } catch (error) { console.log(error.stack) }`
  const stack = run(process.execPath, ['--enable-source-maps', '--input-type=module', '-e', code], { cwd: project })
  const [, source = '', line = ''] =
    /\((?:file:\/\/)?\S*\/upshot\/(src\/author\/define-workflow\.ts):(\d+):\d+\)/.exec(stack) ?? []
  expect(source, stack).not.toBe('')
  expect(readFileSync(installed(source), 'utf8').split('\n')[Number(line) - 1]).toMatch(/throw|Error/)
})

test('the package has no tests, secrets, build files or copies of sources', () => {
  const names = readdirSync(installed(), { recursive: true, encoding: 'utf8' })
  const isOdd = (name: string) =>
    /(^|\/)(test|node_modules|data|\.env)(\/|$)|^bench\/(?!README\.md$)|\.tsbuildinfo$|\.tgz$/.test(name)
  expect(names.filter(isOdd)).toEqual([])
  expect(names.filter((name) => name.endsWith('.test.ts') && !name.startsWith('templates/'))).toEqual([])
  const assets = names.filter((name) => /^src\/.*\.(?!ts$)\w+$/.test(name))
  expect(assets.some((name) => name.endsWith('.sql'))).toBe(true)
  const code = new Set(readBundle().flatMap(({ sources }) => sources))
  expect(assets.filter((name) => !code.has(name) && !names.includes(name.replace(/^src/, 'dist')))).toEqual([])
})

test('the package brings the guides, and the dashboard built without its source', () => {
  const names = readdirSync(installed(), { recursive: true, encoding: 'utf8' })
  expect(names).toContain('dist/dashboard/index.html')
  expect(names).toContain('docs/troubleshooting.md')
  expect(names.filter((name) => name.startsWith('src/dashboard'))).toEqual([])
})

test('the types of the package compile without skipLibCheck', () => {
  const doors = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).exports)
  const lines = doors.map((door, index) => `export * as door${index} from '${door.replace(/^\./, 'upshot')}'`)
  const dir = join(folder, 'strict')
  mkdirSync(dir)
  symlinkSync(join(project, 'node_modules'), join(dir, 'node_modules'))
  writeFileSync(join(dir, 'doors.ts'), lines.join('\n'))
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  const compilerOptions = { module: 'nodenext', target: 'es2024', types: ['node'], strict: true, noEmit: true }
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: false } }),
  )
  expect(run('node_modules/.bin/tsc', [], { cwd: dir })).toBe('')
})

test.each(Object.keys(TEMPLATES))(
  'a project of the template "%s" compiles and passes its own tests',
  (template) => {
    const dir = makeProject(template)
    const script = (name: string) => run(process.execPath, ['--run', name], { cwd: dir })
    script('check')
    expect(script('test')).toMatch(/^ℹ fail 0$/m)
  },
  180_000,
)

test.skipIf(!hasOwnNode)(
  'a project of a packed Upshot installs without a compiler, and passes its tests on the machine’s own Node',
  () => {
    const dir = join(mkdtempSync(join(folder, 'own-')), 'fresh')
    const { data } = JSON.parse(upshot(project, ['init', dir, '--json']))
    expect(data).toMatchObject({
      upshot: tarballPath,
      next: [expect.stringMatching(/^cd /), 'npm install', 'npm test', 'npm run dev'],
    })
    const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const dependencies = { upshot: `file:${tarballPath}` }
    expect(manifestOf(dir)).toEqual({ ...manifestOf(project), name: 'fresh', dependencies })
    expect(warnings).not.toContain('EBADENGINE')
    // A lockfile does not say that SQLite comes compiled, so npm would compile it for each clone.
    expect(existsSync(installed('../better-sqlite3/build'))).toBe(false)
    expect(run('npm', ['test'], { cwd: project, env: { PATH: OWN_PATH } })).toMatch(/^ℹ fail 0$/m)
  },
  180_000,
)

test('upshot dev from the package deletes the source of a proven copy', { timeout: 180_000 }, async () => {
  const dir = makeProject('cleanup')
  const policy = join(dir, 'config/cleanup.ts')
  writeFileSync(policy, readFileSync(policy, 'utf8').replace("grace: '15m'", "grace: '1s'"))
  const child = spawn(join(dir, 'node_modules/.bin/upshot'), ['dev'], {
    cwd: dir,
    env: { ...ENVIRONMENT, ...FREE_PORTS, CLEANUP_DELETES: 'yes' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const log = followLog(child)
  await log.line(({ message }) => message === 'started')
  const { sandbox } = readRuntimeFile(join(dir, 'data')) ?? {}
  const control = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json', 'x-sandbox-control': '1' }
    const response = await fetch(`${sandbox?.origin}/_sandbox${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect(response.status, await response.text()).toBeLessThan(300)
  }
  const source = join(dir, 'data/storages/storage_a/outbox/report.txt')
  mkdirSync(join(source, '..'), { recursive: true })
  writeFileSync(source, 'the report')
  // The sandbox refuses the transfer until it has noticed the file.
  const transfer = { from: ['storage_a', '/outbox/report.txt'], to: ['storage_b', '/archive/'] }
  await vi.waitFor(() => control('/transfers', transfer), { timeout: 60_000 })
  await log.line(({ message, workflow }) => message === 'run completed' && workflow === 'retire-source')
  expect(existsSync(source)).toBe(false)
  expect(readFileSync(join(dir, 'data/storages/storage_b/archive/report.txt'), 'utf8')).toBe('the report')

  child.kill('SIGINT')
  expect(await log.exited).toEqual({ code: 0, signal: null })
  expect(log.lines.at(-1)).toMatchObject({ message: 'stopped' })
})
