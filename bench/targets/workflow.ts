import { randomBytes } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { planRoutes } from '../../src/author/read-workflow.ts'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import type { FilesApi } from '../../src/core/service/files-api.ts'
import { systemClock } from '../../src/core/time.ts'
import { Worker } from '../../src/engine/worker.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { Receiver } from '../../src/receive/receiver.ts'
import { openThreadedStore } from '../../src/store/sqlite/thread/threaded-store.ts'
import { EVENT_TYPE, SECRET } from '../deliveries.ts'
import { answerCalls } from '../processes/answer-calls.ts'

/** The belt in one process, with a workflow that notes the time of its first line. */
let answeredAt = 0
let begunAt = 0
const workflow = defineWorkflow({
  id: 'measured',
  on: EVENT_TYPE,
  run: () => {
    begunAt = performance.now()
  },
})

subscribe('http.server.response.finish', () => {
  answeredAt = performance.now()
})

const bus = createNoticeBus()

async function start({ file }: { file: string }): Promise<string> {
  const store = openThreadedStore({ file, vaultKey: randomBytes(32) })
  const endpoint = planEndpoint({ name: 'bench', secret: SECRET }, systemClock.now())
  await store.addEndpoint(endpoint)
  const routes = planRoutes(workflow)
  const receiver = new Receiver({
    store,
    // As the app wires it: the worker claims the delivery's runs in the same commit.
    intake: { saveDelivery: (delivery) => worker.saveDelivery(delivery) },
    routes: () => routes,
    clock: systemClock,
    publish: bus.publish,
  })
  const worker = new Worker({
    store,
    clock: systemClock,
    random: Math.random,
    publish: bus.publish,
    findWorkflow: () => workflow,
    routes: () => routes,
    // The workflow calls no files.
    filesFor: () => ({}) as FilesApi,
    guard: DEFAULT_POLICY,
    slots: 50,
    drainMs: 1_000,
  })
  await worker.start()
  return `${await receiver.start({ host: '127.0.0.1', port: 0 })}/hooks/${endpoint.path}`
}

answerCalls({
  start,
  /** Milliseconds from the end of the answer to the first line of the next completed run. */
  async nextStart() {
    await bus.once('run.completed')
    return begunAt - answeredAt
  },
})
