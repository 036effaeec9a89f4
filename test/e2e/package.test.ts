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
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { TEMPLATES } from '../../src/cli/commands/app/init.ts'
import { readRuntimeFile } from '../../src/project/data-dir/runtime-file.ts'
import { CHILD_ENVIRONMENT, REGISTRY_ENVIRONMENT } from '../support/child-environment.ts'
import { hasOwnNode, OWN_PATH } from '../support/own-node.ts'
import { followLog } from '../support/process-log.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PACKED = [
  'docs',
  'src',
  'packaging',
  'style',
  'templates',
  'workflows',
  'config',
  'tsconfig.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
]
const FREE_PORTS = {
  ...{ UPSHOT_PORT: '0', UPSHOT_ADMIN_PORT: '0', UPSHOT_SANDBOX_PORT: '0', UPSHOT_SANDBOX_DOWNLOAD_PORT: '0' },
}
/** No settings of this machine, and the Node that runs the tests. */
const ENVIRONMENT = {
  ...{ ...CHILD_ENVIRONMENT, ...REGISTRY_ENVIRONMENT },
  ...{ PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`, HOME: process.env.HOME ?? '' },
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
    ...{ cwd, encoding: 'utf8', stdio: 'pipe', env: { ...ENVIRONMENT, ...env }, maxBuffer: 64 * 1024 ** 2 },
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

// A copy is packed: packing replaces the manifest for a moment, while other tests run.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'upshot-package-'))
  repository = join(folder, 'repository')
  mkdirSync(repository)
  for (const name of PACKED) cpSync(join(ROOT, name), join(repository, name), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(repository, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(repository, 'node_modules'))
  run('npm', ['pack', '--pack-destination', folder], { cwd: repository })
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
  project = join(folder, 'project')
  run(process.execPath, [join(ROOT, 'src/cli/main.js'), 'init', project], { cwd: folder })
  tarballPath = join(folder, tarball)
  const env = hasOwnNode ? { PATH: OWN_PATH } : {}
  const install = ['install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund']
  run('npm', [...install, tarballPath], { cwd: project, env })
  const installed = spawnSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
    ...{ cwd: project, encoding: 'utf8', env: { ...ENVIRONMENT, ...env } },
  })
  expect(installed.status, installed.stderr).toBe(0)
  warnings = installed.stderr
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const installed = (path = '') => join(project, 'node_modules/upshot', path)

test('packing leaves the manifest of the repository as it was', () => {
  expect(readFileSync(join(repository, 'package.json'), 'utf8')).toBe(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(existsSync(join(repository, 'package.json.ours'))).toBe(false)
})

test('the package has JavaScript, types and maps for every export, and the command', () => {
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const { exports: doors, bin, engines, devDependencies } = JSON.parse(readFileSync(installed('package.json'), 'utf8'))
  expect(Object.keys(doors)).toEqual([...Object.keys(ours.exports), './package.json'])
  expect(Object.keys(doors)).toEqual(expect.arrayContaining(['.', './testing', './files', './sandbox']))
  for (const name of Object.keys(ours.exports)) {
    const { types, default: code } = doors[name]
    for (const path of [types, code, `${code}.map`, `${types}.map`])
      expect(existsSync(installed(path)), path).toBe(true)
    // The package contains the sources that the maps name.
    const map = JSON.parse(readFileSync(installed(`${code}.map`), 'utf8'))
    expect(existsSync(resolve(installed(code), '..', map.sources[0]))).toBe(true)
  }
  expect(bin).toEqual({ upshot: './dist/cli/main.js' })
  expect(engines).toEqual({ node: '>=24' })
  expect(devDependencies).toBeUndefined()
})

test('the package has no tests, secrets, build files or copies of sources', () => {
  const names = readdirSync(installed(), { recursive: true, encoding: 'utf8' })
  const isOdd = (name: string) => /(^|\/)(test|bench|node_modules|data|\.env)(\/|$)|\.tsbuildinfo$|\.tgz$/.test(name)
  expect(names.filter(isOdd)).toEqual([])
  expect(names.filter((name) => name.endsWith('.test.ts') && !name.startsWith('templates/'))).toEqual([])
  const assets = names.filter((name) => /^src\/.*\.(?!ts$)\w+$/.test(name))
  expect(assets.some((name) => name.endsWith('.sql'))).toBe(true)
  expect(assets.filter((name) => !names.includes(name.replace(/^src/, 'dist')))).toEqual([])
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
    run('npm', ['run', 'check'], { cwd: dir })
    expect(run('npm', ['test'], { cwd: dir })).toMatch(/^ℹ fail 0$/m)
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
    ...{ cwd: dir, env: { ...ENVIRONMENT, ...FREE_PORTS, CLEANUP_DELETES: 'yes' }, stdio: ['ignore', 'pipe', 'pipe'] },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const log = followLog(child)
  await log.line(({ message }) => message === 'started')
  const { sandbox } = readRuntimeFile(join(dir, 'data')) ?? {}
  const control = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json', 'x-sandbox-control': '1' }
    const response = await fetch(`${sandbox?.origin}/_sandbox${path}`, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
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
