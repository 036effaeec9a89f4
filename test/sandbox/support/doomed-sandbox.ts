import { setImmediate as nextTurn } from 'node:timers/promises'
import { startSandbox } from '../../../src/sandbox/index.ts'

/** A process that prints "running" during a transfer and waits to be killed. */
const [dir = '', url = ''] = process.argv.slice(2)
const sandbox = await startSandbox({ dir, clock: 'manual', plan: 'unlimited' })
await sandbox.webhooks.add({ url, events: ['*'] })
await sandbox.storage('storage_a').put('/big.bin', Buffer.alloc(300_000_000))
const { id } = await sandbox.transfers.start({ from: ['storage_a', '/big.bin'], to: ['storage_b', '/'] })
while (sandbox.transfers.get(id).bytesDone === 0) await nextTurn()
while (sandbox.deliveries.count({ state: 'sending' }) === 0) await nextTurn()
process.stdout.write('running')
