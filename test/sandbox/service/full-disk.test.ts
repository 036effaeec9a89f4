import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSandboxParts } from '../../../src/sandbox/service/sandbox-parts.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openReceiver } from '../support/open-receiver.ts'

/** The parts of a sandbox whose database refuses some writes until `free`. */
function openFull(refused: string) {
  const lines: string[] = []
  const log = ({ msg }: { msg: string }) => lines.push(msg)
  const parts = openSandboxParts({ dir: tempFolder(), scanEveryMs: 50, hints: false, log })
  parts.db.exec(`CREATE TEMP TRIGGER full BEFORE ${refused} BEGIN SELECT RAISE(ABORT, 'disk is full'); END`)
  onTestFinished(async () => {
    await parts.dispatcher.stop()
    await Promise.all(parts.watchers.map((watcher) => watcher.stop()))
    parts.db.close()
  })
  const failed = () => lines.filter((line) => line === 'sandbox failed').length
  return { ...parts, failed, free: () => parts.db.exec('DROP TRIGGER full') }
}

test.each([
  ['taken up', 'UPDATE OF state ON deliveries', 1],
  ['ended', "UPDATE OF state ON deliveries WHEN NEW.state = 'delivered'", 2],
])('a delivery that a full disk does not let be %s is sent once there is room', async (_, refused, sent) => {
  const receiver = await openReceiver()
  const { webhooks, dispatcher, events, deliveries, failed, free } = openFull(refused)
  webhooks.add({ url: receiver.url, secret: 'a secret of twenty-four bytes' })
  dispatcher.start()
  events.emit('file.created', {})
  await expect.poll(failed).toBeGreaterThan(0)
  free()
  await deliveries.until({ state: 'delivered' })
  expect(receiver.received.length).toBeGreaterThanOrEqual(sent)
})

test('a file that a full disk does not let be recorded is recorded once there is room', async () => {
  const { watchers, storages, events, failed, free } = openFull('INSERT ON entries')
  await watchers[0]?.start()
  writeFileSync(join(storages.storage_a.dir, 'a.txt'), 'bytes')
  await expect.poll(failed).toBeGreaterThan(0)
  free()
  await expect.poll(() => events.list().map(({ type }) => type)).toEqual(['file.created'])
})

test('a transfer whose end a full disk does not take ends no process', async () => {
  const { transfers, storages } = openFull('INSERT ON transfers WHEN NEW.finished_at IS NOT NULL')
  await storages.storage_a.put('/a.txt', 'bytes')
  const { id } = await transfers.start({ from: ['storage_a', '/a.txt'], to: ['storage_b', '/'] })
  await expect.poll(() => transfers.get(id).bytesDone).toBe(5)
  await transfers.stop()
  expect(transfers.get(id)).toMatchObject({ status: 'running' })
})
