import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { Store } from '../../src/core/store/store.ts'
import { openSharedStore, type StoreOptions } from '../../src/store/open-store.ts'
import { startServedApp, startService } from './support/served-app.ts'

/** Events of the burst. Run it with `UPSHOT_BURST=10000` for a few minutes of load. */
const EVENTS = Number(process.env.UPSHOT_BURST ?? 300)
const PER_MINUTE = 60
const SLOTS = 50

const look = defineWorkflow({
  id: 'look',
  on: 'file.created',
  run: ({ event, files }) => files.find({ service: 'storage_a', id: String(event.data.file) }),
})

/** Counts the open calls of an app's store, and API requests without a notice so far. */
function watchWork() {
  let storeCalls = 0
  let requests = 0
  let mostRequests = 0
  const counted = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const method = Reflect.get(target, name)
        // A watch is no call that ends.
        if (typeof method !== 'function' || name === 'watch') return method
        return async (...given: unknown[]) => {
          storeCalls++
          try {
            return await method.apply(target, given)
          } finally {
            storeCalls--
          }
        }
      },
    })
  subscribe('http.client.request.start', (message) => {
    const { request } = message as { request: ClientRequest }
    if (!request.path.startsWith('/v1/')) return
    requests++
    mostRequests = Math.max(mostRequests, requests)
  })
  return {
    openStore: async (options: StoreOptions) => counted(await openSharedStore(options)),
    reported: (attempts: number) => {
      requests -= attempts
    },
    mostRequests: () => mostRequests,
    /** Resolves when nothing can happen before the clock moves. */
    async idle() {
      // A call that follows another one begins within five turns of the event loop.
      for (let quiet = 0; quiet < 5; quiet++) {
        if (storeCalls + requests > 0) quiet = 0
        await new Promise(setImmediate)
      }
    },
  }
}

test(`${EVENTS} events at once cause no 429 under the free plan, and each has one run in the plan’s time`, {
  timeout: 30 * 60_000,
}, async () => {
  const { sandbox, service } = await startService({ plan: 'free' })
  const work = watchWork()
  const served = await startServedApp(
    { sandbox, service },
    { workflows: [look], openStore: work.openStore },
    { config: { slots: SLOTS } },
  )
  const counts = { deliveries: 0, completed: 0, parked: 0 }
  const { notices } = served.app
  notices.subscribe('delivery.received', () => counts.deliveries++)
  notices.subscribe('run.completed', () => counts.completed++)
  notices.subscribe('run.parked', () => counts.parked++)
  notices.subscribe('files.called', ({ attempts }) => work.reported(attempts))

  const began = served.clock.now()
  for (let number = 0; number < EVENTS; number++) sandbox.events.emit('file.created', { file: `fil_${number}` })
  while (counts.deliveries < EVENTS) await new Promise(setImmediate)
  while (counts.completed < EVENTS) {
    await work.idle()
    await served.advance((served.clock.nextAt() ?? 0) - served.clock.now())
  }

  const requests = sandbox.audit.requests()
  expect(sandbox.audit.findings()).toEqual([])
  expect(requests).toHaveLength(EVENTS)
  expect(new Set(requests.map(({ status }) => status))).toEqual(new Set([404]))
  const starts = requests.map(({ at }) => Date.parse(at))
  const crowded = starts.filter((at, index) => index >= PER_MINUTE && at - (starts[index - PER_MINUTE] ?? 0) < 60_000)
  expect(crowded).toEqual([])
  expect(work.mostRequests()).toBeLessThanOrEqual(SLOTS)
  // A waiting run is tried again once or twice, not at each free slot.
  expect(counts.parked).toBeLessThan(3 * EVENTS)
  expect(served.clock.now() - began).toBeLessThan((EVENTS / PER_MINUTE) * 61_000 * 1.05)
})
