import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { toWireError } from '../../../src/sandbox/http/api-error.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts'
import { findReadFault } from '../../../src/sandbox/storage/fingerprint.ts'
import { pathsIn } from '../../support/paths-in.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { call } from '../support/call.ts'
import { openSandbox, test } from '../support/open-sandbox.ts'

function drop(sandbox: Sandbox, path: string, bytes = 'dropped'): void {
  const place = join(sandbox.storage('storage_a').dir, path)
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, bytes)
}

/** The events so far, as `type path`. */
function eventsSoFar(sandbox: Sandbox): string[] {
  return sandbox.events.list().map(({ type, data }) => `${type} ${(data.file as { path: string }).path}`)
}

/**
 * The events once every change before this call has its own. A marker file, written twice, proves
 * that.
 */
async function eventsAtRest(sandbox: Sandbox): Promise<string[]> {
  for (let n = 0; n < 2; n++) {
    const marker = `/${eventsSoFar(sandbox).length}.marker`
    drop(sandbox, marker)
    await expect.poll(() => eventsSoFar(sandbox), { interval: 10 }).toContain(`file.created ${marker}`)
    await sandbox.storage('storage_a').remove(marker)
  }
  return eventsSoFar(sandbox).filter((line) => !line.endsWith('.marker'))
}

test("an editor's save through a temporary file keeps the id", async ({ sandbox }) => {
  const storage = sandbox.storage('storage_a')
  const before = await storage.put('/notes.md', 'first')
  drop(sandbox, '/notes.md.tmp', 'second, longer')
  renameSync(join(storage.dir, 'notes.md.tmp'), join(storage.dir, 'notes.md'))
  expect(await eventsAtRest(sandbox)).toEqual(['file.created /notes.md'])
  expect(storage.list()[0]).toMatchObject({ id: before.id, size: 14 })
})

test('a file still being written emits one event when it is complete', async ({ sandbox }) => {
  const place = join(sandbox.storage('storage_a').dir, 'copy.bin')
  writeFileSync(place, 'start')
  for (let n = 0; n < 8; n++) {
    await new Promise((resolve) => setTimeout(resolve, 60))
    appendFileSync(place, 'more')
    expect(eventsSoFar(sandbox)).toEqual([])
  }
  expect(await eventsAtRest(sandbox)).toEqual(['file.created /copy.bin'])
  const [copy] = sandbox.events.list().filter(({ data }) => (data.file as { name: string }).name === 'copy.bin')
  expect(copy?.data).toMatchObject({ file: { size: 37 } })
})

test('files that are written without end hold back no deletion of another', async ({ sandbox }) => {
  const storage = sandbox.storage('storage_a')
  await storage.put('/removed.txt', 'x')
  /** Writes to a file until the test ends; resolves once it has grown a little. */
  const write = async (name: string) => {
    await storage.put(name, 'start')
    const grown = Promise.withResolvers<void>()
    let writes = 0
    const writing = setInterval(() => {
      appendFileSync(join(storage.dir, name), 'more')
      writes += 1
      if (writes === 4) grown.resolve()
    }, 5)
    onTestFinished(() => clearInterval(writing))
    return grown.promise
  }
  // One after the other, so that each is looked at in its turn.
  for (let n = 0; n < 5; n++) await write(`/growing-${n}.log`)
  rmSync(join(storage.dir, 'removed.txt'))
  await expect.poll(() => eventsSoFar(sandbox), { interval: 10 }).toContain('file.deleted /removed.txt')
})

test('short-lived files, temporary names and links emit nothing', async ({ sandbox }) => {
  const { dir } = sandbox.storage('storage_a')
  drop(sandbox, '/brief.txt')
  rmSync(join(dir, 'brief.txt'))
  for (const name of ['.hidden', 'a.part', 'b.crdownload', 'c.txt~', '.d.swp']) drop(sandbox, `/${name}`)
  const outside = tempFolder()
  writeFileSync(join(outside, 'secret.txt'), 'secret')
  symlinkSync(outside, join(dir, 'way-out'))
  symlinkSync(join(outside, 'secret.txt'), join(dir, 'link.txt'))
  expect(await eventsAtRest(sandbox)).toEqual([])
  await expect(sandbox.storage('storage_a').put('/way-out/new.txt', 'x')).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

test('changes during a stop emit their events at the next start', async () => {
  const dir = tempFolder()
  const first = await openSandbox({ dir })
  const kept = await first.storage('storage_a').put('/renamed-later.txt', 'x')
  await first.storage('storage_a').put('/removed.txt', 'x')
  await first.stop()
  drop(first, '/added.txt')
  rmSync(join(first.storage('storage_a').dir, 'removed.txt'))
  renameSync(
    join(first.storage('storage_a').dir, 'renamed-later.txt'),
    join(first.storage('storage_a').dir, 'new-name.txt'),
  )

  const second = await openSandbox({ dir })
  expect(eventsSoFar(second).slice(2).sort()).toEqual(['file.created /added.txt', 'file.deleted /removed.txt'])
  expect(
    second
      .storage('storage_a')
      .list()
      .find(({ path }) => path === '/new-name.txt')?.id,
  ).toBe(kept.id)
})

test('files that a directory holds when it is first opened emit nothing', async () => {
  const storagesDir = tempFolder()
  mkdirSync(join(storagesDir, 'storage_a'))
  writeFileSync(join(storagesDir, 'storage_a', 'old.txt'), 'x')
  const sandbox = await openSandbox({ storagesDir })
  expect(pathsIn(sandbox)).toEqual(['/old.txt'])
  expect(sandbox.events.list()).toEqual([])
})

test('a storage whose directory cannot be read loses no file, and says so once', async () => {
  const lines: object[] = []
  const sandbox = await openSandbox({ scanEveryMs: 20, log: (line) => lines.push(line) })
  const { dir } = sandbox.storage('storage_a')
  for (const path of ['/in/a.txt', '/b.txt']) await sandbox.storage('storage_a').put(path, 'x')
  renameSync(dir, `${dir}.away`)
  const unreadable = () => lines.filter((line) => 'msg' in line && line.msg === 'storage unreadable')
  await expect
    .poll(unreadable, { interval: 10 })
    .toEqual([{ msg: 'storage unreadable', storage: 'storage_a', path: expect.stringMatching(/^\//), error: 'ENOENT' }])
  expect(sandbox.storage('storage_a').list()).toHaveLength(3)
  renameSync(`${dir}.away`, dir)
  rmSync(join(dir, 'b.txt'))
  await expect.poll(() => eventsSoFar(sandbox), { interval: 10 }).toContain('file.deleted /b.txt')
  const created = ['file.created /in/a.txt', 'file.created /b.txt']
  expect(eventsSoFar(sandbox).sort()).toEqual([...created, 'file.deleted /b.txt'].sort())
})

test('a sandbox does not start on a directory that is gone with its files, and tells no deletion', async () => {
  const place = tempFolder()
  const first = await startSandbox({ dir: place, clock: 'manual' })
  const { dir } = first.storage('storage_a')
  await first.storage('storage_a').put('/in/a.txt', 'x')
  await first.stop()
  renameSync(dir, `${dir}.away`)
  await expect(startSandbox({ dir: place, clock: 'manual' })).rejects.toThrow(
    `The directory of storage_a is gone, in which the sandbox knows 1 file: ${dir}`,
  )
  renameSync(`${dir}.away`, dir)
  const second = await openSandbox({ dir: place })
  expect(await eventsAtRest(second)).toEqual(['file.created /in/a.txt'])
})

test('another directory in the place of a storage deletes none of its files', async () => {
  const lines: object[] = []
  const sandbox = await openSandbox({ scanEveryMs: 3_600_000, hints: false, log: (line) => lines.push(line) })
  const storage = sandbox.storage('storage_a')
  await storage.put('/a.txt', 'x')
  renameSync(storage.dir, `${storage.dir}.away`)
  mkdirSync(storage.dir)
  await storage.rescan()
  expect(lines).toContainEqual({ msg: 'storage unreadable', storage: 'storage_a', path: '/a.txt', error: 'replaced' })
  expect(eventsSoFar(sandbox)).toEqual(['file.created /a.txt'])
  await expect(storage.remove('/a.txt')).rejects.toMatchObject({ code: 'store_unavailable' })
  rmSync(storage.dir, { recursive: true })
  renameSync(`${storage.dir}.away`, storage.dir)
  await storage.remove('/a.txt')
  expect(eventsSoFar(sandbox)).toEqual(['file.created /a.txt', 'file.deleted /a.txt'])
})

test('no call deletes, makes or denies a file of a storage that is missing', async () => {
  const sandbox = await openSandbox({ scanEveryMs: 3_600_000, hints: false })
  const { key } = await sandbox.keys.create({ name: 'admin', scope: 'admin' })
  const storage = sandbox.storage('storage_a')
  const { id } = await storage.put('/a.txt', 'x')
  const details = await call(sandbox, `/files/${id}/download?service=storage_a`, { key })
  rmSync(storage.dir, { recursive: true })
  const answers = [
    await call(sandbox, `/files/${id}?service=storage_a`, { key, method: 'DELETE' }),
    await fetch(details.body.data.downloadUrl),
  ]
  expect(answers.map(({ status }) => status)).toEqual([503, 503])
  await expect(storage.put('/in/new.txt', 'x')).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(() => storage.makeFolder('/new')).toThrow(/ENOENT/)
  expect(existsSync(storage.dir)).toBe(false)
  expect(eventsSoFar(sandbox)).toEqual(['file.created /a.txt'])
})

test('a path that the disk cannot look up is neither there nor gone', () => {
  const root = tempFolder()
  expect(findReadFault(root, join(root, 'nothing'))).toBeNull()
  expect(findReadFault(root, join(root, 'x'.repeat(300)))).toBe('ENAMETOOLONG')
  expect(findReadFault(join(root, 'gone'), join(root, 'gone/a'))).toBe('ENOENT')
})

test('an error of the disk is an answer with its cause, without the path', () => {
  const refused = Object.assign(new Error("EACCES: permission denied, open '/srv/secret/a'"), {
    code: 'EACCES',
    syscall: 'open',
    path: '/srv/secret/a',
  })
  expect(toWireError(refused)).toEqual({
    status: 500,
    code: 'service_error',
    details: {},
    message: 'The storage cannot be read or written: EACCES: permission denied.',
  })
  expect(toWireError(new Error('secret')).message).toBe('The service failed.')
})
