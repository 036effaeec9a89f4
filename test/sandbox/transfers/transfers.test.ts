import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { openSandbox, test } from '../support/open-sandbox.ts'

test('a transfer with `failAt` fails at that byte and leaves nothing behind', async ({ sandbox }) => {
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

test('a canceled transfer stops and emits nothing', async ({ sandbox }) => {
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

test('an impossible transfer is refused', async ({ sandbox }) => {
  await sandbox.storage('storage_a').put('/a.txt', 'a')
  const start = (from: string, to: string) =>
    sandbox.transfers.start({ from: ['storage_a', from], to: ['storage_a', to] })
  await expect(start('/missing.txt', '/b.txt')).rejects.toMatchObject({ code: 'not_found' })
  await expect(start('/a.txt', '/a.txt')).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(start('/a.txt', '/../out.txt')).rejects.toMatchObject({ code: 'invalid_request' })
})
