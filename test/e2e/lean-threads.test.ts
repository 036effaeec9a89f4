import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const SRC = resolve(import.meta.dirname, '../../src')

/** An import or export that loads a module when its file is loaded. */
const LOADS = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?'([^']+)'/gm

/** The files and packages that are loaded with these files, before any call. */
function loadedWith(...entries: string[]): { files: string[]; packages: string[] } {
  const files = new Set(entries.map((entry) => join(SRC, entry)))
  const packages = new Set<string>()
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(LOADS)) {
      if (name.startsWith('.')) files.add(resolve(dirname(file), name))
      else if (!name.startsWith('node:')) packages.add(name)
    }
  }
  return { files: [...files].map((file) => relative(SRC, file)), packages: [...packages].sort() }
}

const within = (files: readonly string[], ...rooms: string[]) =>
  files.filter((file) => rooms.some((room) => file.startsWith(`${room}/`)))

test('the writer thread loads SQLite and nothing that checks input', () => {
  const { files, packages } = loadedWith('store/sqlite/thread/writer-thread.ts')
  expect(packages).toEqual(['better-sqlite3'])
  expect(within(files, 'core', 'store')).toHaveLength(files.length)
})

test('the thread of the engine loads no receiver, server, log, command or client before a run needs it', () => {
  const { files, packages } = loadedWith('app/engine/engine-thread-main.ts')
  expect(packages).toEqual(['node-cron', 'zod'])
  expect(within(files, 'receive', 'admin', 'sandbox', 'cli', 'dashboard', 'watch/metrics', 'notices/log')).toEqual([])
  expect(within(files, 'files/call', 'files/http', 'files/disk', 'files/reply')).toEqual([])
})

test('the store of one database loads nothing of the other', () => {
  const sqlite = loadedWith('store/open-store.ts', 'store/sqlite/thread/connected-store.ts')
  expect(sqlite.packages).toEqual(['better-sqlite3'])
  expect(within(sqlite.files, 'store/postgres')).toEqual([])
  const postgres = loadedWith('store/open-store.ts', 'store/postgres/open-postgres-store.ts')
  expect(postgres.packages).toEqual(['pg'])
  expect(within(postgres.files, 'store/sqlite')).toEqual([])
})

test('the main thread loads no engine, Files client, console, router or sandbox before it needs them', () => {
  const { files, packages } = loadedWith('app/run-program.ts', 'app/open-parts.ts')
  expect(files).toContain('receive/receiver.ts')
  expect(within(files, 'engine/steps', 'engine/pass', 'files', 'sandbox', 'admin/contract', 'admin/resources')).toEqual(
    [],
  )
  const parsers = ['content-type', 'secure-json-parse']
  expect(packages).toEqual([...parsers, 'node-cron', 'zod'].sort())
})

test.each([
  { thread: 'main', entries: ['app/run-program.ts', 'app/open-parts.ts'], most: 175 },
  { thread: 'writer', entries: ['store/sqlite/thread/writer-thread.ts'], most: 156 },
  { thread: 'engine', entries: ['app/engine/engine-thread-main.ts'], most: 165 },
])('the $thread thread starts with at most $most files of ours', ({ entries, most }) => {
  expect(loadedWith(...entries).files.length).toBeLessThanOrEqual(most)
})

test('no file imports node:http for more than its types, because that loads all of undici', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const importing = files.filter((file) =>
    [...readFileSync(join(SRC, file), 'utf8').matchAll(LOADS)].some(([, name]) => name === 'node:http'),
  )
  // The process that previews code again hooks every way out of it, undici too.
  expect(importing).toEqual(['app/preview/hooks/hook-network.ts'])
})
