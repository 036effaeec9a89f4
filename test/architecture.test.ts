import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const SRC = resolve(import.meta.dirname, '../src')

/**
 * Who may import whom. A folder may always import itself; packages and Node's own modules are not
 * listed.
 */
const ALLOWED: Record<string, readonly string[]> = {
  core: ['author'],
  author: ['core', 'project'],
  receive: ['core'],
  engine: ['core', 'author', 'project'],
  schedule: ['core'],
  store: ['core'],
  files: ['core'],
  notices: ['core'],
  sandbox: ['core'],
  admin: ['core'],
  testing: ['core', 'author', 'engine', 'store', 'sandbox', 'files', 'schedule', 'notices', 'receive'],
  project: ['core', 'author', 'schedule', 'store'],
  app: ['core', 'author', 'project', 'receive', 'engine', 'schedule', 'store', 'files', 'notices', 'admin', 'sandbox'],
  cli: ['core', 'author', 'app', 'project', 'files', 'sandbox', 'schedule', 'notices'],
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

test('core imports nothing but zod and node:crypto', () => {
  const core = files.filter((file) => roomOf(file) === 'core')
  const packages = core.flatMap(importsOf).filter((name) => !name.startsWith('.'))
  expect([...new Set(packages)].filter((name) => !CORE_PACKAGES.includes(name))).toEqual([])
})

test('no file is named for a drawer, and only public doors are barrels', () => {
  const names = files.map((file) => file.split('/').at(-1) ?? '')
  expect(names.filter((name) => /^(utils?|helpers?|common|lib|types|interfaces|constants)\.ts$/.test(name))).toEqual([])
  const doors = files.filter((file) => /(^|\/)index\.ts$/.test(file))
  expect(
    doors.every((door) => ['author/index.ts', 'files/index.ts', 'sandbox/index.ts', 'testing/index.ts'].includes(door)),
  ).toBe(true)
})

test('no file is too long to read', () => {
  const long = files
    .map((file) => [file, readFileSync(join(SRC, file), 'utf8').split('\n').length] as const)
    .filter(([file, lines]) => lines > (roomOf(file) === 'store' ? 400 : 300))
  expect(long).toEqual([])
})

test('only environment.ts reads the environment', () => {
  const readers = files.filter((file) => /\bprocess\.env\b/.test(readFileSync(join(SRC, file), 'utf8')))
  expect(readers).toEqual(['project/config/environment.ts'])
})
