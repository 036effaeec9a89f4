import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import type { DeliveryIntake } from '../../src/core/store/store.ts'
import { systemClock } from '../../src/core/time.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { Receiver } from '../../src/receive/receiver.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { EVENT_TYPE, SECRET } from '../deliveries.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import { type IngestStore, openOneCommitStore } from './one-commit-store.ts'

/**
 * The real receiver without worker and log, up to its 2xx. Bursts may use different stores, so that
 * the same warm code is measured on each.
 */
const OPENERS = { group: openThreadedStore, each: openOneCommitStore }
/** All load comes from one address, so the token buckets must never run empty. */
const UNLIMITED = { endpointPerSecond: 1e9, endpointBurst: 1e9, addressPerSecond: 1e9, addressBurst: 1e9 }
const ROUTES = [{ eventType: EVENT_TYPE, workflow: 'measured' }]

const vaultKey = randomBytes(32)
const stores = new Map<string, { store: IngestStore; path: string }>()
let receiver: Receiver | undefined
let accepted = 0
let lastSaved: Promise<unknown> = Promise.resolve()

async function openStore(file: string, commit: keyof typeof OPENERS) {
  const store: IngestStore = OPENERS[commit]({ file, vaultKey })
  const endpoint = planEndpoint({ name: 'bench', secret: SECRET, events: [EVENT_TYPE] }, systemClock.now())
  await store.addEndpoint(endpoint)
  const opened = { store, path: endpoint.path }
  stores.set(file, opened)
  return opened
}

/** The store's intake, noting the last write. */
function watchSaves(store: IngestStore): DeliveryIntake {
  return {
    saveDelivery(delivery) {
      const saved = store.saveDelivery(delivery)
      lastSaved = saved
      return saved
    },
  }
}

/** Waits for deliveries whose sender has gone and that are still being saved. */
async function settleSaves(): Promise<void> {
  let seen: Promise<unknown> | undefined
  while (seen !== lastSaved) {
    seen = lastSaved
    await seen
    await turn()
  }
}

/** Processor time of this process so far, on its main thread and on all threads. */
export interface CpuUse {
  mainUs: number
  allUs: number
}

answerCalls({
  cpu(): CpuUse {
    const sum = ({ user, system }: NodeJS.CpuUsage) => user + system
    return { mainUs: sum(process.threadCpuUsage()), allUs: sum(process.cpuUsage()) }
  },
  /** Starts a receiver on the store in `file`, which stays open; returns its URL. */
  async start({ file, commit }: { file: string; commit: keyof typeof OPENERS }) {
    const { store, path } = stores.get(file) ?? (await openStore(file, commit))
    const bus = createNoticeBus()
    accepted = 0
    bus.subscribe('delivery.received', ({ verdict }) => {
      if (verdict === 'accepted') accepted += 1
    })
    receiver = new Receiver({
      store,
      intake: watchSaves(store),
      routes: () => ROUTES,
      clock: systemClock,
      publish: bus.publish,
      limits: UNLIMITED,
    })
    return `${await receiver.start({ host: '127.0.0.1', port: 0 })}/hooks/${path}`
  },
  /** Stops the receiver after its last answer; returns the number of accepted deliveries. */
  async stop() {
    await receiver?.stop()
    await turn()
    await settleSaves()
    return accepted
  },
})
