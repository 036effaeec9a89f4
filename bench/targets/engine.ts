import { planRoutes } from '../../src/author/read-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import { newId } from '../../src/core/ids.ts'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import type { FilesApi } from '../../src/core/service/files-api.ts'
import type { Store } from '../../src/core/store/store.ts'
import { systemClock } from '../../src/core/time.ts'
import { Worker } from '../../src/engine/worker.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { Receiver } from '../../src/receive/receiver.ts'
import { EVENT_TYPE, ID_BYTES, renderBody, SECRET } from '../deliveries.ts'
import { answerCalls } from '../processes/answer-calls.ts'
import { openStore, type StorePlace } from '../processes/open-store.ts'
import { longRuns } from '../workflows/long-runs.ts'
import { manySteps } from '../workflows/many-steps.ts'
import { threeSteps } from '../workflows/three-steps.ts'
import { FinishLine } from './finish-line.ts'

/** The app's belt in one process: receiver, store, worker. No log. */
const bus = createNoticeBus()
const workflows = new Map<string, AnyWorkflow>(
  [threeSteps, manySteps, ...longRuns].map((workflow) => [workflow.id, workflow]),
)
let store: Store
let worker: Worker
let events = 0
let startedAt = 0
const finish = new FinishLine()

bus.subscribe('run.completed', () => finish.passed())

/** `keeps`: false replays each pass from its beginning. `words`: how often progress is written. */
async function open({
  slots,
  cachesPasses = true,
  words = 1,
  ...place
}: StorePlace & { slots: number; cachesPasses?: boolean; words?: number }) {
  store = await openStore(place)
  const endpoint = planEndpoint({ name: 'bench', secret: SECRET }, systemClock.now())
  await store.addEndpoint(endpoint)
  const routes = planRoutes(threeSteps)
  const receiver = new Receiver({
    store,
    intake: { saveDelivery },
    routes: () => routes,
    clock: systemClock,
    publish: bus.publish,
  })
  const saveProgress: Store['saveProgress'] = async (...given) => {
    for (let word = 0; word < words; word++) await store.saveProgress(...given)
  }
  worker = new Worker({
    store: words === 1 ? store : { ...store, saveProgress },
    clock: systemClock,
    random: Math.random,
    publish: bus.publish,
    findWorkflow: (id) => workflows.get(id),
    routes: () => routes,
    // The workflows call no files.
    filesFor: () => ({}) as FilesApi,
    guard: DEFAULT_POLICY,
    slots,
    drainMs: 1_000,
    // As the app does: other machines have no lock of a process to look at.
    ...('urls' in place ? { beatMs: 1_000 } : {}),
    ...(!cachesPasses && { passCache: { max: 0 } }),
  })
  bus.subscribe('run.queued', () => worker.wake())
  startedAt = performance.now()
  await worker.start()
  return `${await receiver.start({ host: '127.0.0.1', port: 0 })}/hooks/${endpoint.path}`
}

/** As the app wires it: the worker claims the delivery's runs in the same commit. */
const saveDelivery: Store['saveDelivery'] = (delivery) => {
  finish.delivered()
  return worker.saveDelivery(delivery)
}

/** Saves an event and its run in one commit, as the receiver does after its checks. */
async function startRun(): Promise<void> {
  const now = systemClock.now()
  events += 1
  const word = events.toString(16).padStart(ID_BYTES, '0')
  const event = { id: `evt_${word}`, type: EVENT_TYPE, created: '2026-01-05T09:31:13.000Z' }
  const incoming = { id: newId('dlv', now), endpointId: 'end_bench', account: 'default', receivedAt: now, facts: {} }
  await saveDelivery({ ...incoming, event, body: renderBody(word), workflows: [threeSteps.id] })
}

answerCalls({
  open,
  /** Rate and CPU time of runs with `inFlight` at once, from saving the event to the end. */
  async runMany({ count, inFlight }: { count: number; inFlight: number }) {
    const begunAt = performance.now()
    const cpuBefore = process.cpuUsage()
    const until = finish.reach(finish.completed + count)
    let started = 0
    const startNext = () => {
      if (started >= count) return
      started += 1
      void startRun()
    }
    const stop = bus.subscribe('run.completed', startNext)
    for (let each = 0; each < inFlight; each++) startNext()
    await until
    stop()
    const { user, system } = process.cpuUsage(cpuBefore)
    const runsPerSecond = count / ((performance.now() - begunAt) / 1_000)
    return { runsPerSecond, cpuMicrosPerRun: (user + system) / count }
  },
  /** Milliseconds of each of `count` runs, one after the other in an idle process. */
  async runSingly(count: number) {
    const times: number[] = []
    for (let each = 0; each < count; each++) {
      const end = finish.reach(finish.completed + 1)
      const begunAt = performance.now()
      await startRun()
      await end
      times.push(performance.now() - begunAt)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return times
  },
  /** CPU time in milliseconds, on all threads, of a run of a callable workflow. */
  async cpuMsOfRun({ workflow, input }: { workflow: string; input: number }) {
    const run = newId('run', systemClock.now())
    const ended = new Promise<void>((resolve) => {
      const stop = bus.subscribe('run.completed', (notice) => {
        if (notice.run !== run) return
        stop()
        resolve()
      })
    })
    const cpuBefore = process.cpuUsage()
    const createdAt = systemClock.now()
    await store.startRun({ run, workflow, account: 'default', input: JSON.stringify(input), createdAt })
    worker.wake()
    await ended
    const { user, system } = process.cpuUsage(cpuBefore)
    return (user + system) / 1_000
  },
  /** Milliseconds from the worker's start to the end of `count` runs that were in the store. */
  async msUntilDone(count: number) {
    await finish.reach(count)
    return finish.lastEndAt - startedAt
  },
  /** Resolves when this process has completed `count` runs. */
  reach: (count: number) => finish.reach(count),
  ...finish.calls,
})
