import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const SRC = resolve(import.meta.dirname, '../src')

/** Who may import whom. A folder may always import itself; packages and Node's own modules are not listed. */
const ALLOWED: Record<string, readonly string[]> = {
  core: [],
  receive: ['core'],
  solver: ['core'],
  engine: ['core'],
  schedule: ['core'],
  files: ['core'],
  store: ['core'],
  notices: ['core'],
  sandbox: ['core'],
  admin: ['core'],
  testing: ['core', 'engine', 'store', 'sandbox', 'files', 'schedule', 'notices', 'receive'],
  cli: [
    'core',
    'solver',
    'files',
    'sandbox',
    'notices',
    'schedule',
    'change-watch.ts',
    'app.ts',
    'serve.ts',
    'explain-config.ts',
    'database-care.ts',
    'reseal-secrets.ts',
    'locate-database.ts',
    'config.ts',
    'runtime-file.ts',
    'index.ts',
  ],
  'index.ts': ['core', 'config-file.ts'],
  'config-file.ts': ['core'],
  'config.ts': ['core', 'config-file.ts'],
  'runtime-file.ts': [],
  'locate-database.ts': ['core', 'store', 'config.ts'],
  'app-urls.ts': ['core', 'embedded-sandbox.ts', 'runtime-file.ts'],
  'workflow-set.ts': ['core', 'engine', 'schedule'],
  'module-watch.ts': ['core', 'engine'],
  'change-watch.ts': ['core'],
  'explain-config.ts': ['core', 'config.ts', 'config-file.ts'],
  'database-care.ts': ['schedule', 'store', 'config.ts'],
  'reseal-secrets.ts': ['core', 'store', 'config.ts', 'locate-database.ts'],
  'own-endpoint.ts': ['core', 'config.ts'],
  'embedded-sandbox.ts': ['core', 'sandbox', 'config.ts'],
  'account-clients.ts': ['core', 'files'],
  'app.ts': [
    'core',
    'account-clients.ts',
    'receive',
    'engine',
    'schedule',
    'files',
    'store',
    'notices',
    'sandbox',
    'admin',
    'config.ts',
    'embedded-sandbox.ts',
    'own-endpoint.ts',
    'runtime-file.ts',
    'locate-database.ts',
    'app-urls.ts',
    'workflow-set.ts',
    'module-watch.ts',
    'change-watch.ts',
  ],
  'serve.ts': ['core', 'app.ts', 'config.ts', 'notices'],
  'main.ts': ['core', 'config.ts', 'serve.ts'],
}

/** The packages that `core` may use. */
const CORE_PACKAGES = ['zod', 'node:crypto']

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const roomOf = (file: string) => file.split('/')[0] ?? file

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name]) => name ?? '')
}

function localImports(file: string): string[] {
  return importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(SRC, resolve(SRC, dirname(file), name)))
}

test('every room is in the table of allowed arrows', () => {
  expect([...new Set(files.map(roomOf))].filter((room) => !(room in ALLOWED))).toEqual([])
})

test('arrows point to core and stages never import each other', () => {
  const forbidden = files.flatMap((file) =>
    localImports(file)
      .filter((target) => roomOf(target) !== roomOf(file) && !ALLOWED[roomOf(file)]?.includes(roomOf(target)))
      .map((target) => `${file} → ${target}`),
  )
  expect(forbidden).toEqual([])
})

test('core imports nothing but zod and node:crypto, and stays a glossary', () => {
  const core = files.filter((file) => roomOf(file) === 'core')
  const packages = core.flatMap(importsOf).filter((name) => !name.startsWith('.'))
  expect([...new Set(packages)].filter((name) => !CORE_PACKAGES.includes(name))).toEqual([])
  expect(core.length).toBeLessThanOrEqual(21)
})

test('no file is named for a drawer, and only public doors are barrels', () => {
  const names = files.map((file) => file.split('/').at(-1) ?? '')
  expect(names.filter((name) => /^(utils?|helpers?|common|lib|types|interfaces|constants)\.ts$/.test(name))).toEqual([])
  const doors = files.filter((file) => /(^|\/)index\.ts$/.test(file))
  expect(
    doors.every((door) => ['index.ts', 'files/index.ts', 'sandbox/index.ts', 'testing/index.ts'].includes(door)),
  ).toBe(true)
})

test('no file is too long to read', () => {
  const long = files
    .map((file) => [file, readFileSync(join(SRC, file), 'utf8').split('\n').length] as const)
    .filter(([file, lines]) => lines > (roomOf(file) === 'store' ? 400 : 300))
  expect(long).toEqual([])
})

test('only config.ts reads the environment', () => {
  const readers = files.filter((file) => /\bprocess\.env\b/.test(readFileSync(join(SRC, file), 'utf8')))
  expect(readers).toEqual(['config.ts'])
})
