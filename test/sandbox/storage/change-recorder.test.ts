import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { closeSandboxParts, openSandboxParts } from '../../../src/sandbox/service/sandbox-parts.ts'
import { StorageWatcher } from '../../../src/sandbox/storage/storage-watcher.ts'
import { tempFolder } from '../../support/temp-folder.ts'

type Change = { write: string } | { remove: string } | { rename: [string, string] }

/** Few names, so that files and folders swap places, vanish and come back. */
const path = fc.constantFrom('a', 'b', 'd/a', 'd/b', 'd/e/a', 'd', 'd/e', 'f')
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ write: path }),
  fc.record({ remove: path }),
  fc.record({ rename: fc.tuple(path, path) }),
)

/** Applies a change as far as the file system allows it. */
function apply(root: string, change: Change): void {
  try {
    if ('write' in change) {
      mkdirSync(dirname(join(root, change.write)), { recursive: true })
      writeFileSync(join(root, change.write), 'x'.repeat(Math.ceil(performance.now() % 50)))
    } else if ('remove' in change) rmSync(join(root, change.remove), { recursive: true, force: true })
    else {
      mkdirSync(dirname(join(root, change.rename[1])), { recursive: true })
      renameSync(join(root, change.rename[0]), join(root, change.rename[1]))
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

function onDisk(root: string): string[] {
  return readdirSync(root, { recursive: true })
    .map((name) => `/${name}`)
    .sort()
}

/** A storage whose watcher only looks when it is called, so that nothing depends on time. */
function openQuietStorage() {
  const parts = openSandboxParts({ dir: tempFolder(), clock: 'manual' })
  const storage = parts.storages.storage_a
  const { index, recorder } = parts
  const watcher = new StorageWatcher({
    storage,
    index,
    recorder,
    settleMs: 0,
    scanEveryMs: 3_600_000,
    hints: false,
    log: () => {},
  })
  return { parts, storage, watcher }
}

test('the index equals the disk after every scan, and each file has one event', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 6 }), async (rounds) => {
      const { parts, storage, watcher } = openQuietStorage()
      await watcher.start()
      for (const round of rounds) {
        for (const each of round) apply(storage.dir, each)
        await watcher.catchUp()
        expect(storage.list().map((entry) => entry.path)).toEqual(onDisk(storage.dir))
        for (const { path, type, size, parent, name } of storage.list()) {
          const stat = statSync(join(storage.dir, path))
          expect([type, size]).toEqual(stat.isFile() ? ['file', stat.size] : ['folder', null])
          expect(join(parent, name)).toBe(path)
        }
      }
      expectEvents(
        parts.events.list(),
        storage.list().filter(({ type }) => type === 'file'),
      )
      await watcher.stop()
      await closeSandboxParts(parts)
    }),
    { numRuns: 100 },
  )
})

/** Each id is created once and deleted at most once after that; the others still exist. */
function expectEvents(events: { type: string; data: Record<string, unknown> }[], files: { id: string }[]): void {
  const alive = new Set<string>()
  const ever = new Set<string>()
  for (const { type, data } of events) {
    const { id, path } = data.file as { id: string; path: string }
    expect(path).toMatch(/^\/\w/)
    if (type === 'file.deleted') expect(alive.delete(id)).toBe(true)
    else {
      expect(ever.has(id)).toBe(false)
      alive.add(id)
      ever.add(id)
    }
  }
  expect([...alive].sort()).toEqual(files.map(({ id }) => id).sort())
}

test('a file that another was renamed over is deleted under its old path', async () => {
  const { parts, storage, watcher } = openQuietStorage()
  await watcher.start()
  const [over, under] = [await storage.put('/over', 'over'), await storage.put('/under', 'under')]
  renameSync(join(storage.dir, 'over'), join(storage.dir, 'under'))
  await watcher.catchUp()
  expect(storage.list().map(({ path, id }) => [path, id])).toEqual([['/under', over.id]])
  expect(parts.events.list({ type: 'file.deleted' })).toMatchObject([
    { data: { file: { id: under.id, path: '/under' } } },
  ])
  await watcher.stop()
  await closeSandboxParts(parts)
})

test('a file that is copied with its date, or gets an old one, is as old as the disk says', async () => {
  const { parts, storage, watcher } = openQuietStorage()
  await watcher.start()
  const day = 86_400_000
  const age = (name: string, days: number) =>
    utimesSync(join(storage.dir, name), new Date(), new Date(Date.now() - days * day))
  const daysOf = () =>
    storage.list().map(({ name, modifiedAt }) => [name, Math.round((parts.clock.now() - modifiedAt) / day)])
  for (const name of ['new', 'old']) writeFileSync(join(storage.dir, name), name)
  age('old', 100)
  await watcher.catchUp()
  expect(daysOf()).toEqual([
    ['new', 0],
    ['old', 100],
  ])
  age('new', 30)
  await watcher.catchUp()
  expect(daysOf()).toEqual([
    ['new', 30],
    ['old', 100],
  ])
  await watcher.stop()
  await closeSandboxParts(parts)
})
