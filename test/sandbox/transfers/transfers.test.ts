import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { openSandbox } from '../support/open-sandbox.ts'

test('a transfer copies the bytes and emits events for itself and the new file', async () => {
  const sandbox = await openSandbox()
  const bytes = randomBytes(700_000)
  await sandbox.storage('storage_a').put('/in/report.pdf', bytes)
  const started = await sandbox.transfers.start({
    from: ['storage_a', '/in/report.pdf'],
    to: ['storage_b', '/archive/'],
  })
  expect(started).toMatchObject({ id: expect.stringMatching(/^trf_/), status: 'queued', bytesTotal: 700_000 })
  const record = await started.done
  expect(record).toMatchObject({
    status: 'completed',
    bytesDone: 700_000,
    source: { service: 'storage_a', path: '/in/report.pdf' },
    destination: { service: 'storage_b', path: '/archive/report.pdf' },
  })
  expect(await sandbox.storage('storage_b').read('/archive/report.pdf')).toEqual(bytes)
  const [completed] = sandbox.events.list({ type: 'transfer.completed' })
  expect(completed?.data).toEqual({ transfer: record })
  const created = sandbox.events.list({ type: 'file.created' })
  expect(created.map(({ data }) => data.service)).toEqual(['storage_a', 'storage_b'])
})

test('a transfer with `failAt` fails at that byte and leaves nothing behind', async () => {
  const sandbox = await openSandbox()
  await sandbox.storage('storage_a').put('/big.bin', randomBytes(600_000))
  const { done } = await sandbox.transfers.start({
    from: ['storage_a', '/big.bin'],
    to: ['storage_b', '/'],
    failAt: 0.5,
  })
  const record = await done
  expect(record).toMatchObject({ status: 'failed', bytesDone: 300_000, error: { code: 'service_error' } })
  expect(readdirSync(sandbox.storage('storage_b').dir)).toEqual([])
  expect(sandbox.events.list({ type: 'transfer.failed' }).map(({ data }) => data)).toEqual([{ transfer: record }])
})

test('a canceled transfer stops and emits nothing', async () => {
  const sandbox = await openSandbox()
  await sandbox.storage('storage_a').put('/big.bin', randomBytes(5_000_000))
  const { id } = await sandbox.transfers.start({ from: ['storage_a', '/big.bin'], to: ['storage_c', '/'] })
  expect(await sandbox.transfers.cancel(id)).toMatchObject({ status: 'canceled', error: { code: 'canceled' } })
  expect(sandbox.events.list().map(({ type }) => type)).toEqual(['file.created'])
  await expect(sandbox.transfers.cancel(id)).rejects.toThrow(/already ended/)
})

test('a transfer that a stop cut off fails at the next start', async () => {
  const dir = tempFolder()
  const first = await openSandbox({ dir })
  await first.storage('storage_a').put('/big.bin', randomBytes(5_000_000))
  const { id } = await first.transfers.start({ from: ['storage_a', '/big.bin'], to: ['storage_b', '/'] })
  await first.stop()
  const second = await openSandbox({ dir })
  expect(second.transfers.get(id)).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
  expect(second.events.list({ type: 'transfer.failed' })).toHaveLength(1)
  expect(second.storage('storage_b').list()).toEqual([])
})
