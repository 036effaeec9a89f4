import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/index.ts'
import { openReceiver, openSandbox, tempDir } from './support/harness.ts'

test('stops twice and is disposed of without complaint', async () => {
  await using sandbox = await startSandbox({ dir: tempDir() })
  await sandbox.stop()
  await sandbox.stop()
})

test('refuses a directory that another sandbox runs on, and a taken port', async () => {
  const dir = tempDir()
  const first = await openSandbox({ dir })
  await expect(startSandbox({ dir })).rejects.toThrow(/Another sandbox is running/)
  const port = Number(new URL(first.origin).port)
  await expect(startSandbox({ dir: tempDir(), port })).rejects.toThrow(/is taken or not allowed/)
})

test('loses nothing when it is killed in the middle of a transfer and a delivery', async () => {
  const dir = tempDir()
  const receiver = await openReceiver()
  receiver.isSilent = true
  const child = spawn(
    process.execPath,
    [new URL('./support/doomed-sandbox.ts', import.meta.url).pathname, dir, receiver.url],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await once(child.stdout, 'data')
  await expect.poll(() => receiver.received.length, { interval: 2 }).toBe(1)
  child.kill('SIGKILL')
  await once(child, 'exit')

  receiver.isSilent = false
  const sandbox = await openSandbox({ dir })
  const [transfer] = sandbox.transfers.list()
  expect(transfer).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
  expect(sandbox.storage('storage_b').list()).toEqual([])
  const created = await sandbox.deliveries.until({ type: 'file.created', state: 'delivered' })
  expect(created).toHaveLength(1)
  await sandbox.deliveries.until({ type: 'transfer.failed', state: 'delivered' })
})

test('sends a sandbox that is started on the real clock on its way', async () => {
  const receiver = await openReceiver()
  receiver.statuses = [500]
  const sandbox = await openSandbox({ clock: 'real', retryScheduleMs: [20] })
  await sandbox.webhooks.add({ url: receiver.url })
  sandbox.events.emit('file.created', {})
  const [delivery] = await sandbox.deliveries.until({ state: 'delivered' })
  expect(delivery?.attempts).toHaveLength(2)
  const before = Date.now()
  await sandbox.clock.advance('1h')
  expect(sandbox.clock.now()).toBeGreaterThanOrEqual(before + 3_600_000)
})
