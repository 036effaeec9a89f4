import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeFiles } from '../../../src/cli/commands/files/remove-files.ts'
import type { FileEntry } from '../../../src/core/service/file.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'
import { runHere } from '../support/run-here.ts'

async function appWithFiles(files: Record<string, string>) {
  const { dataDir, sandbox } = await startTestApp()
  for (const [path, text] of Object.entries(files)) await sandbox.storage('storage_c').put(path, text)
  const paths = () =>
    sandbox
      .storage('storage_c')
      .list()
      .filter(({ type }) => type === 'file')
      .map(({ path }) => path)
      .sort()
  return { dataDir, sandbox, paths }
}

test('files rm deletes the listed files after a confirmation, and nothing else', async () => {
  const { dataDir, paths } = await appWithFiles({ '/in/a.txt': 'a', '/in/deep/b.txt': 'bb', '/out/c.txt': 'ccc' })
  const args = ['files', 'rm', 'storage_c:/in', '--recursive']
  const refused = await runHere(dataDir, [...args, '--json'])
  expect(refused).toMatchObject({ exit: 3, json: { ok: false, error: { code: 'needs_confirmation' } } })
  expect(refused.json.error.message).toBe('This would delete 2 files (3 B) for good. Nothing was done.')

  const dry = await runHere(dataDir, [...args, '--dry-run', '--yes'])
  expect(dry).toMatchObject({ exit: 0, stdout: '2 dry run\n' })
  expect(dry.stderr).toMatch(/storage_c:\/in\/a\.txt\n.*storage_c:\/in\/deep\/b\.txt/)
  expect(paths()).toEqual(['/in/a.txt', '/in/deep/b.txt', '/out/c.txt'])

  const done = await runHere(dataDir, [...args, '--yes', '--json'])
  expect(done).toMatchObject({ exit: 0, json: { ok: true, data: { counts: { deleted: 2 } } } })
  expect(paths()).toEqual(['/out/c.txt'])
})

test('files rm refuses a folder without --recursive, a storage or a missing file before any delete', async () => {
  const { dataDir, paths } = await appWithFiles({ '/a.txt': 'a', '/in/b.txt': 'b' })
  const [folder, whole, missing] = await Promise.all([
    runHere(dataDir, ['files', 'rm', 'storage_c:/a.txt', 'storage_c:/in', '--yes', '--json']),
    runHere(dataDir, ['files', 'rm', 'storage_c:/', '--recursive', '--yes', '--json']),
    runHere(dataDir, ['files', 'rm', 'storage_c:/a.txt', 'storage_c:/none', '--yes', '--json']),
  ])
  expect([folder.exit, whole.exit, missing.exit]).toEqual([2, 2, 5])
  expect(folder.json.error.fix).toContain('--recursive')
  expect(paths()).toEqual(['/a.txt', '/in/b.txt'])
})

test('files rm counts a file named twice once, and accepts ids and paths', async () => {
  const { dataDir, sandbox, paths } = await appWithFiles({ '/a.txt': 'a', '/b.txt': 'b' })
  const id = sandbox
    .storage('storage_c')
    .list()
    .find(({ path }) => path === '/a.txt')?.id
  const args = ['files', 'rm', 'storage_c:/a.txt', `storage_c:${id}`, '--yes', '--json']
  expect((await runHere(dataDir, args)).json.data.counts).toEqual({ deleted: 1 })
  expect(paths()).toEqual(['/b.txt'])
})

const entry = (id: string): FileEntry => ({
  ...{ service: 'storage_a', id, name: id, path: `/${id}`, type: 'file', mimeType: null },
  ...{ size: 1, createdAt: null, modifiedAt: '2026-01-01T00:00:00.000Z' },
})
const quiet = { signal: new AbortController().signal, onDone: () => {} }

test('each delete expects the file that was listed, and a failure does not stop the rest', async () => {
  const asked: unknown[] = []
  const files = {
    async delete(file: FileEntry, options: unknown) {
      asked.push([file.id, options])
      if (file.id === 'f1') throw new Error('the line was busy')
      return { outcome: file.id === 'f2' ? 'changed' : 'deleted', proof: 'reply' } as const
    },
  }
  const found = ['f0', 'f1', 'f2', 'f3', 'f4', 'f5'].map(entry)
  const removals = await removeFiles(files as never, found, quiet)
  expect(asked).toEqual(found.map((file) => [file.id, { expect: file }]))
  expect(removals.map(({ outcome, error }) => error ?? outcome)).toEqual([
    ...['deleted', 'the line was busy', 'changed', 'deleted', 'deleted', 'deleted'],
  ])
})

test('after an interruption no further file is deleted, and the rest is reported as not tried', async () => {
  const controller = new AbortController()
  const files = {
    async delete() {
      controller.abort()
      return { outcome: 'deleted', proof: 'reply' } as const
    },
  }
  const removals = await removeFiles(
    files as never,
    Array.from({ length: 20 }, (_, n) => entry(`f${n}`)),
    {
      ...quiet,
      signal: controller.signal,
    },
  )
  const tried = removals.filter(({ outcome }) => outcome === 'deleted')
  expect(tried.length).toBeLessThanOrEqual(4)
  expect(removals.filter(({ outcome }) => outcome === 'not_tried')).toHaveLength(20 - tried.length)
})

test('files rm exits with 7 if a file has changed since it was listed', async () => {
  const { dataDir, sandbox, paths } = await appWithFiles({ '/a.txt': 'a' })
  // The file changes after it was listed and before the delete.
  await sandbox.faults.add({ on: 'files.delete', status: 502, times: 1 })
  await sandbox.faults.add({ on: 'files.get', latencyMs: 1_500, times: 1 })
  const running = runHere(dataDir, ['files', 'rm', 'storage_c:/a.txt', '--yes', '--json'])
  await until(() => sandbox.faults.list().some(({ struck }) => struck > 0))
  await sandbox.storage('storage_c').put('/a.txt', 'another text')
  const { exit, json } = await running
  expect({ exit, counts: json.data.counts }).toEqual({ exit: 7, counts: { changed: 1 } })
  expect(paths()).toEqual(['/a.txt'])
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

test('files get saves a file under its own or another name, and asks before it replaces one', async () => {
  const { dataDir } = await appWithFiles({ '/in/report.txt': 'the report' })
  const folder = tempFolder()
  const to = join(folder, 'mine.txt')
  const got = await runHere(dataDir, ['files', 'get', 'storage_c:/in/report.txt', '-o', to, '--json'])
  expect(got).toMatchObject({ exit: 0, stderr: '', json: { data: { path: to, bytes: 10, saved: true } } })
  expect(readFileSync(to, 'utf8')).toBe('the report')

  await runHere(dataDir, ['files', 'get', 'storage_c:/in/report.txt', '-o', folder])
  expect(readFileSync(join(folder, 'report.txt'), 'utf8')).toBe('the report')

  writeFileSync(to, 'my own text')
  const again = ['files', 'get', 'storage_c:/in/report.txt', '-o', to]
  expect((await runHere(dataDir, again)).exit).toBe(3)
  expect(readFileSync(to, 'utf8')).toBe('my own text')
  expect((await runHere(dataDir, [...again, '--yes'])).exit).toBe(0)
  expect(readFileSync(to, 'utf8')).toBe('the report')
})

test('files get -o - writes only the file to standard output', async () => {
  const { dataDir } = await appWithFiles({ '/in/report.txt': 'the report' })
  const piped = await runHere(dataDir, ['files', 'get', 'storage_c:/in/report.txt', '-o', '-'])
  expect(piped).toMatchObject({ exit: 0, stdout: 'the report' })
  const mixed = await runHere(dataDir, ['files', 'get', 'storage_c:/in/report.txt', '-o', '-', '--json'])
  expect(mixed).toMatchObject({ exit: 2, json: { ok: false, error: { code: 'invalid_request' } } })
})

test('files url prints a temporary URL that needs no API key', async () => {
  const { dataDir } = await appWithFiles({ '/in/report.txt': 'the report' })
  const { json } = await runHere(dataDir, ['files', 'url', 'storage_c:/in/report.txt', '--json'])
  expect(json.data.expiresAt).toMatch(/^\d{4}-.*Z$/)
  expect(await (await fetch(json.data.url)).text()).toBe('the report')
})
