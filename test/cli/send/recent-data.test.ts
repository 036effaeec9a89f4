import { expect, test } from 'vitest'
import { startTestApp } from '../../support/test-app.ts'
import { runHere } from '../support/run-here.ts'

test('trigger sends the data of a real file of the sandbox, so that a workflow can follow it', async () => {
  const { app, dataDir, sandbox } = await startTestApp()
  // The sandbox's own first transfer makes events, too.
  await expect.poll(() => sandbox.events.list({ type: 'transfer.completed' })).toHaveLength(1)
  const { id } = await sandbox.storage('storage_a').put('/in/real.txt', 'x')
  const sent = await runHere(dataDir, ['trigger', 'file.created', '--set', 'data.note=mine', '--json'])
  const [{ event }] = sent.json.data.deliveries
  const [stored] = await app.store.findEvents(event)
  expect(JSON.parse(stored?.body ?? '').data).toMatchObject({ file: { id, path: '/in/real.txt' }, note: 'mine' })
  const made = await runHere(dataDir, ['trigger', 'order.placed', '--json'])
  expect(made.json.data.deliveries).toMatchObject([{ verdict: 'accepted' }])
})
