import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { transferSchema } from '../../../src/sandbox/files-api/wire-schema.ts'
import type { Sandbox, TransferInput } from '../../../src/sandbox/index.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openSandbox } from '../support/open-sandbox.ts'

/** Three files of 10 bytes and an empty folder in `/in`, and one file beside it. */
async function openFilled(options = {}) {
  const sandbox = await openSandbox(options)
  const storage = sandbox.storage('storage_a')
  for (const path of ['/in/a.txt', '/in/deep/b.txt', '/in/deep/c.txt', '/other.txt'])
    await storage.put(path, '0123456789')
  storage.makeFolder('/in/empty')
  return { sandbox, storage, target: sandbox.storage('storage_b') }
}

async function transfer(sandbox: Sandbox, input: Partial<TransferInput> = {}) {
  const started = await sandbox.transfers.start({ from: ['storage_a', '/in'], to: ['storage_b', '/'], ...input })
  return started.done
}

const paths = (storage: { list(): { path: string }[] }) => storage.list().map(({ path }) => path)

test('a folder is transferred with its contents as one transfer', async () => {
  const { sandbox, target } = await openFilled()
  const started = await sandbox.transfers.start({ from: ['storage_a', '/in/'], to: ['storage_b', '/archive/'] })
  expect(started).toMatchObject({ type: 'folder', status: 'queued', filesTotal: 3, filesDone: 0, bytesTotal: 30 })
  const record = await started.done
  expect(transferSchema.safeParse(record).error?.issues ?? []).toEqual([])
  expect(paths(target)).toEqual([
    '/archive',
    '/archive/in',
    '/archive/in/a.txt',
    '/archive/in/deep',
    '/archive/in/deep/b.txt',
    '/archive/in/deep/c.txt',
    '/archive/in/empty',
  ])
  const folder = target.list().find(({ path }) => path === '/archive/in')
  expect(record).toMatchObject({
    status: 'completed',
    filesTotal: 3,
    filesDone: 3,
    filesKept: 0,
    bytesTotal: 30,
    bytesDone: 30,
    destination: { service: 'storage_b', path: '/archive/in', fileId: folder?.id },
  })
  expect(await target.read('/archive/in/deep/c.txt')).toEqual(Buffer.from('0123456789'))
  expect(sandbox.events.list({ type: 'transfer.completed' }).map(({ data }) => data)).toEqual([{ transfer: record }])
  const created = sandbox.events.list({ type: 'file.created' }).filter(({ data }) => data.service === 'storage_b')
  expect(created).toHaveLength(3)
})

test('a failed folder transfer names the file and keeps only complete files', async () => {
  const { sandbox, target } = await openFilled()
  const record = await transfer(sandbox, { failAt: 0.5 })
  expect(record).toMatchObject({
    status: 'failed',
    filesTotal: 3,
    filesDone: 1,
    bytesTotal: 30,
    bytesDone: 15,
    error: { code: 'service_error', path: '/in/deep/b.txt', message: expect.stringContaining('/in/deep/b.txt') },
  })
  expect(paths(target)).toEqual(['/in', '/in/a.txt', '/in/deep'])
  expect(readdirSync(join(target.dir, 'in/deep'))).toEqual([])
  expect(readdirSync(target.dir)).toEqual(['in'])
  expect(sandbox.events.list({ type: 'transfer.failed' }).map(({ data }) => data)).toEqual([{ transfer: record }])
})

test('a folder transfer fails at a file that has vanished', async () => {
  const { sandbox, storage } = await openFilled()
  const started = await sandbox.transfers.start({ from: ['storage_a', '/in'], to: ['storage_b', '/'] })
  await storage.remove('/in/deep/c.txt')
  expect(await started.done).toMatchObject({
    status: 'failed',
    error: { code: 'resource_not_found', path: '/in/deep/c.txt' },
  })
})

test('a folder transfer replaces or keeps existing files', async () => {
  const { sandbox, target } = await openFilled()
  const replaced = await target.put('/in/a.txt', 'older')
  const kept = await transfer(sandbox, { existing: 'keep' })
  expect(kept).toMatchObject({ status: 'completed', filesDone: 3, filesKept: 1, bytesDone: 30 })
  expect((await target.read('/in/a.txt')).toString()).toBe('older')
  const over = await transfer(sandbox)
  expect(over).toMatchObject({ filesDone: 3, filesKept: 0 })
  expect((await target.read('/in/a.txt')).toString()).toBe('0123456789')
  expect(target.list().find(({ path }) => path === '/in/a.txt')).toMatchObject({ id: expect.any(String), size: 10 })
  expect(replaced.path).toBe('/in/a.txt')

  writeFileSync(join(target.dir, 'unreported.txt'), 'dropped just now')
  const single = await transfer(sandbox, {
    from: ['storage_a', '/other.txt'],
    to: ['storage_b', '/unreported.txt'],
    existing: 'keep',
  })
  expect(single).toMatchObject({ type: 'file', status: 'completed', filesKept: 1 })
  expect(readdirSync(target.dir)).toContain('unreported.txt')
  expect((await transfer(sandbox, { failAt: 0.9, existing: 'keep' })).status).toBe('completed')
})

test('an impossible folder transfer is refused before it starts', async () => {
  const { sandbox, target } = await openFilled()
  await target.put('/in', 'a file in the way')
  const inA = (from: string, to: string) => transfer(sandbox, { from: ['storage_a', from], to: ['storage_a', to] })
  await expect(transfer(sandbox)).rejects.toMatchObject({ code: 'conflict' })
  await expect(inA('/in', '/in')).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(inA('/in', '/in/deep/')).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(inA('/', '/copy')).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(inA('/in', '/in2/.hidden')).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(inA('/none', '/copy')).rejects.toMatchObject({ code: 'not_found' })
  expect((await inA('/in', '/in2')).status).toBe('completed')
  expect(sandbox.transfers.list()).toHaveLength(1)
})

test('a folder transfer fails at a folder in the way or a link that leads out', async () => {
  const { sandbox, target } = await openFilled()
  await target.put('/in/deep/b.txt/inside.txt', 'x')
  expect(await transfer(sandbox)).toMatchObject({
    status: 'failed',
    error: { code: 'conflict', path: '/in/deep/b.txt' },
  })
  const outside = tempFolder()
  const third = sandbox.storage('storage_c')
  third.makeFolder('/in')
  symlinkSync(outside, join(third.dir, 'in/deep'))
  expect(await transfer(sandbox, { to: ['storage_c', '/'] })).toMatchObject({
    status: 'failed',
    error: { code: 'invalid_request', path: '/in/deep' },
  })
  expect(existsSync(join(outside, 'b.txt'))).toBe(false)
})

test('the last file and the end of a folder transfer share one commit', async () => {
  const { sandbox } = await openFilled({ hints: false, scanEveryMs: 3_600_000 })
  const emit = sandbox.events.emit.bind(sandbox.events)
  vi.spyOn(sandbox.events, 'emit').mockImplementation((type, data) => {
    if (type === 'transfer.completed') throw new Error('the disk is full')
    return emit(type, data)
  })
  expect((await transfer(sandbox, { from: ['storage_a', '/other.txt'] })).status).toBe('failed')
  const told = sandbox.events.list().filter(({ data }) => data.service === 'storage_b')
  expect([told, paths(sandbox.storage('storage_b'))]).toEqual([[], []])
})
