import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { removeFiles } from '../../../../src/app/service/remove-files.ts'
import { runCommandLine } from '../../../../src/cli/run-command-line.ts'
import type { FileEntry } from '../../../../src/core/service/file.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { openTerminal } from '../../support/fake-terminal.ts'
import { runHere } from '../../support/run-here.ts'
import { serviceEnv } from '../../support/service-env.ts'

/** A ledger that takes every delete. */
const ledger = { begin: async () => ({ seq: 1 }), end: async () => {}, findStop: async () => null }

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

const entry = (id: string): FileEntry => ({
  service: 'storage_a',
  id,
  name: id,
  path: `/${id}`,
  type: 'file',
  mimeType: null,
  size: 1,
  createdAt: null,
  modifiedAt: '2026-01-01T00:00:00.000Z',
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
  const removals = await removeFiles({ files, ledger } as never, found, quiet)
  expect(asked).toEqual(
    found.map((file) => [file.id, { expect: file, beforeSend: expect.any(Function), onSeen: expect.any(Function) }]),
  )
  expect(removals.map(({ outcome, error }) => error ?? outcome)).toEqual([
    'deleted',
    'the line was busy',
    'changed',
    'deleted',
    'deleted',
    'deleted',
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
    { files, ledger } as never,
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

test('files get -o - says nothing of its own where standard output takes no more', async () => {
  const { dataDir } = await appWithFiles({ '/in/report.txt': 'the report' })
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(full) })
  const stderr = new PassThrough()
  vi.stubEnv('UPSHOT_DATA_DIR', dataDir)
  onTestFinished(() => void vi.unstubAllEnvs())
  stdout.on('error', () => {})
  await runCommandLine(['files', 'get', 'storage_c:/in/report.txt', '-o', '-'], { stdout, stderr })
  expect(stderr.read()).toBeNull()
})

test('files ls lists the files of the sandbox, and says if there are more', async () => {
  const { dataDir, sandbox } = await startTestApp()
  await sandbox.storage('storage_c').put('/in/one.txt', 'one')
  await sandbox.storage('storage_c').put('/in/two.txt', 'two!')
  const listed = await runHere(dataDir, ['files', 'ls', 'storage_c:/in', '--json'])
  expect(listed).toMatchObject({ exit: 0, json: { ok: true, data: [{ path: '/in/one.txt', size: 3 }, {}] } })

  const [cut, missing] = await Promise.all([
    runHere(dataDir, ['files', 'ls', 'Storage-C', '--recursive', '--limit', '2']),
    runHere(dataDir, ['files', 'ls', 'storage_c:/nowhere', '--json']),
  ])
  expect(cut.stdout).toMatch(/^PATH +SIZE .*\n\/in\/ .*\n\/in\/one.txt +3 B /)
  expect(cut.stderr).toContain('There are more than these 2 entries.')
  expect(missing).toMatchObject({ exit: 5, json: { ok: false, error: { code: 'not_found' } } })
})

test('files ls uses the real service of the environment, and exits with 4 for a rejected key', async () => {
  const { sandbox } = await startTestApp()
  await sandbox.storage('storage_b').put('/in/kept.txt', 'kept')
  const { key } = await sandbox.keys.create({ name: 'cli', scope: 'read-only' })
  const env = { ...serviceEnv(sandbox.url, key), SERVICE_STORAGE_B: 'storage-b' }
  const args = ['files', 'ls', 'storage_b:/in', '--json']
  const [listed, refused, wrong] = await Promise.all([
    runHere(tempFolder(), args, { env }),
    runHere(tempFolder(), args, { env: { ...env, SERVICE_API_KEY: 'sk_sandbox_of_nobody' } }),
    runHere(tempFolder(), args, { env: { ...env, SERVICE_STORAGE_C: '' } }),
  ])
  expect(listed.json).toMatchObject({ ok: true, data: [{ path: '/in/kept.txt', service: 'storage_b' }] })
  expect(refused).toMatchObject({ exit: 4, json: { ok: false, error: { code: 'key_refused' } } })
  expect(refused.stdout).not.toContain('sk_sandbox_of_nobody')
  expect(wrong).toMatchObject({ exit: 2, json: { ok: false, error: { code: 'invalid_config' } } })
  expect(wrong.json.error.message).toContain('SERVICE_STORAGE_C is missing')
})

test('files rm deletes nothing that a stop covers', async () => {
  const { dataDir, paths } = await appWithFiles({ '/a.txt': 'a' })
  await runHere(dataDir, ['effects', 'stop', '--storage', 'storage_c', '--reason', 'wrong files', '--yes'])
  const held = await runHere(dataDir, ['files', 'rm', 'storage_c:/a.txt', '--yes', '--json'])
  expect(held).toMatchObject({ exit: 7, json: { data: { counts: { stopped: 1 } } } })
  expect(held.json.data.files[0].error).toBe('effects of the storage storage_c are stopped: wrong files')
  expect(paths()).toEqual(['/a.txt'])
  await runHere(dataDir, ['effects', 'resume', '--storage', 'storage_c', '--yes'])
  const done = await runHere(dataDir, ['files', 'rm', 'storage_c:/a.txt', '--yes', '--json'])
  expect(done.json.data.counts).toEqual({ deleted: 1 })
})

test('files rm of more files than a run may delete needs their number, and --yes is not enough', async () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`/in/f${n}.txt`, 'x']))
  const { dataDir, paths } = await appWithFiles(many)
  const args = ['files', 'rm', 'storage_c:/in', '--recursive', '--yes', '--json']
  for (const more of [[], ['--count', '20']]) {
    const refused = await runHere(dataDir, [...args, ...more])
    expect(refused).toMatchObject({ exit: 3, json: { error: { fix: expect.stringContaining('--count 21') } } })
  }
  expect(paths()).toHaveLength(21)
  expect((await runHere(dataDir, [...args, '--count', '21'])).json.data.counts).toEqual({ deleted: 21 })
})

test.each([
  ['21', 0, 0],
  ['20', 3, 21],
  ['yes', 3, 21],
])('files rm at a terminal asks for the number of many files: typing %s exits with %i', async (typed, exit, left) => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`/in/f${n}.txt`, 'x']))
  const { dataDir, paths } = await appWithFiles(many)
  for (const [name, value] of Object.entries({ UPSHOT_DATA_DIR: dataDir, UPSHOT_PORT: '0', CI: '' }))
    vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { streams, says } = openTerminal()
  const done = runCommandLine(['files', 'rm', 'storage_c:/in', '--recursive'], streams)
  await says('Continue? [y/N]')
  streams.stdin.write('y\n')
  await says('Type the number of items to go on')
  expect(paths()).toHaveLength(21)
  streams.stdin.write(`${typed}\n`)
  expect(await done).toBe(exit)
  expect(paths()).toHaveLength(left)
})

test('files diff compares two folders by path and size, and with --content by their bytes', async () => {
  const { dataDir, sandbox } = await appWithFiles({ '/to/a.txt': 'same', '/to/b.txt': 'bytes', '/to/extra.txt': 'x' })
  for (const [path, text] of Object.entries({ '/from/a.txt': 'same', '/from/b.txt': 'other', '/from/in/c.txt': 'c' }))
    await sandbox.storage('storage_a').put(path, text)
  const args = ['files', 'diff', 'storage_a:/from', 'storage_c:/to']

  const bySize = await runHere(dataDir, [...args, '--json'])
  expect(bySize).toMatchObject({
    exit: 7,
    json: { data: { counts: { same: 2, differs: 0, only_one: 2, only_other: 1, unknown: 0 } } },
  })
  const byContent = await runHere(dataDir, [...args, '--content'])
  expect(byContent.exit).toBe(7)
  expect(byContent.stdout.split('\n').map((line) => line.trimEnd())).toEqual([
    'STANDING              STORAGE_A  STORAGE_C  PATH',
    '✗ differs by content        5 B        5 B  b.txt',
    '› only in storage_c           –        1 B  extra.txt',
    '‹ only in storage_a      folder          –  in/',
    '‹ only in storage_a         1 B          –  in/c.txt',
    '',
    '1 same, 1 different, 2 only in storage_a:/from, 1 only in storage_c:/to',
    '',
  ])
  const same = await runHere(dataDir, ['files', 'diff', 'storage_c:/to', 'storage_c:/to', '--content'])
  expect(same).toMatchObject({
    exit: 0,
    stdout: '3 same, 0 different, 0 only in storage_c:/to, 0 only in storage_c:/to\n',
  })
})

test('files diff says that it cannot tell where a listing was cut short', async () => {
  const { dataDir, sandbox } = await appWithFiles({ '/to/a.txt': 'a', '/to/b.txt': 'b' })
  for (const path of ['/from/a.txt', '/from/b.txt']) await sandbox.storage('storage_a').put(path, path.at(-5) ?? '')
  const cut = await runHere(dataDir, ['files', 'diff', 'storage_a:/from', 'storage_c:/to', '--limit', '1', '--json'])
  expect(cut).toMatchObject({ exit: 8, json: { data: { one: { complete: false, reason: 'max' } } } })
})
