import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { systemClock } from '../../src/core/time.ts'
import { Receiver } from '../../src/receive/receiver.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import type { ReceiverSetup } from './receiver-process.ts'

/** Program of `startReceiverProcess`; it samples its memory every 5 ms. */
const SAMPLE_EVERY_MS = 5

process.once('message', async ({ folder, secret, limits, timeouts }: ReceiverSetup) => {
  const store = openThreadedStore({ file: join(folder, 'upshot.db'), vaultKey: randomBytes(32) })
  const endpoint = planEndpoint({ name: 'main', secret }, systemClock.now())
  await store.addEndpoint(endpoint)
  const receiver = new Receiver({
    store,
    intake: store,
    clock: systemClock,
    publish: () => {},
    routes: () => [],
    limits,
    timeouts,
  })
  const url = await receiver.start({ host: '127.0.0.1', port: 0 })
  globalThis.gc?.()
  const started = process.memoryUsage.rss()
  let peak = started
  setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, SAMPLE_EVERY_MS)
  process.on('message', () => process.send?.({ started, peak: Math.max(peak, process.memoryUsage.rss()) }))
  process.send?.({ url, path: `/hooks/${endpoint.path}` })
})
process.on('disconnect', () => process.exit())
