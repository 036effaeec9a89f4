import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import type { DeliveryIntake } from '../../src/core/store/deliveries.ts'
import { systemClock } from '../../src/core/time.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { Receiver } from '../../src/receive/receiver.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { EVENT_TYPE, SECRET } from '../deliveries.ts'
import { answerCalls } from './answer-calls.ts'
import { type IngestStore, openOneCommitStore } from './one-commit-store.ts'

/**
 * The real receiver, on a store that may change from burst to burst while the process stays: the
 * same warm code meets an empty store and a full one. No worker runs here and nothing is logged:
 * what is measured is the way to the 2xx.
 */
const OPENERS = { group: openThreadedStore, each: openOneCommitStore }
/**
 * Everything comes from one address to one endpoint, faster than any sender should: the buckets
 * count, and never run dry.
 */
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

/** The store's intake; remembers the last write. */
function watchSaves(store: IngestStore): DeliveryIntake {
  return {
    saveDelivery(delivery) {
      const saved = store.saveDelivery(delivery)
      lastSaved = saved
      return saved
    },
  }
}

/** A sender that went away leaves deliveries behind that are still on their way into the store. */
async function settleSaves(): Promise<void> {
  let seen: Promise<unknown> | undefined
  while (seen !== lastSaved) {
    seen = lastSaved
    await seen
    await turn()
  }
}

/** Processor time of this process so far: of its main thread, and of all threads. */
export interface CpuUse {
  mainUs: number
  allUs: number
}

answerCalls({
  cpu(): CpuUse {
    const sum = ({ user, system }: NodeJS.CpuUsage) => user + system
    return { mainUs: sum(process.threadCpuUsage()), allUs: sum(process.cpuUsage()) }
  },
  /** Receives into the store in `file`, which stays open; gives the URL to deliver to. */
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
  /**
   * Ends what `start` began, after the last answer; gives the number of deliveries that it
   * accepted.
   */
  async stop() {
    await receiver?.stop()
    await turn()
    await settleSaves()
    return accepted
  },
})
