import { createHmac } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPE, makeDelivery, SECRET } from '../deliveries.ts'
import { startApp } from '../processes/app-process.ts'
import { judge, median, percentile, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

/** Deliveries to the whole app while author code blocks the engine's thread without end. */
export const blocked: Suite = { names: ['blocked.p99Ms', 'blocked.addedMs', 'blocked.calmMs'], run: runBlocked }

const AUTHOR = resolve(import.meta.dirname, '../../src/author/index.ts')
const SERVICE = {
  SERVICE_BASE_URL: 'https://service.invalid/v1',
  SERVICE_API_KEY: 'key-of-no-service',
  SERVICE_WEBHOOK_SECRET: SECRET,
  SERVICE_STORAGE_A: 'a',
  SERVICE_STORAGE_B: 'b',
  SERVICE_STORAGE_C: 'c',
}
/** Type of the events that start the harmful workflow. */
const HARMFUL = 'file.deleted'
/** Time between two deliveries, each on a connection of its own. */
const PACE_MS = 5
/** Time for the loop to begin. */
const BLOCK_WITHIN_MS = 500

async function runBlocked(bench: Bench): Promise<Result[]> {
  const before: number[] = []
  const beside: number[] = []
  const deliveries = bench.isQuick ? 600 : 2_000
  for (let round = 0; round < (bench.isQuick ? 1 : 3); round++) {
    await bench.patience.waitForCalm()
    await using app = await startApp({ root: makeProject(bench.folder), environment: SERVICE })
    const url = app.urls['endpoint service'] ?? ''
    const agent = new Agent({ keepAlive: true })
    await sendAll(url, agent, deliveries / 4)
    before.push(percentile(await sendAll(url, agent, deliveries), 0.99))
    await deliver(url, agent, HARMFUL)
    await sleep(BLOCK_WITHIN_MS)
    beside.push(percentile(await sendAll(url, agent, deliveries), 0.99))
    agent.destroy()
  }
  bench.say(`  ${deliveries} deliveries, one every ${PACE_MS} ms, before and beside a loop without end`)
  const [p99, calm] = [median(beside), median(before)]
  return [
    judge('blocked.p99Ms', p99, 'ms', { atMost: 100 }),
    judge('blocked.addedMs', p99 - calm, 'ms', { atMost: 50 }),
    judge('blocked.calmMs', calm, 'ms'),
  ]
}

function makeProject(folder: string): string {
  const root = mkdtempSync(join(folder, 'blocked-'))
  mkdirSync(join(root, 'workflows'))
  mkdirSync(join(root, 'config'))
  const workflow = (id: string, on: string, step: string) =>
    writeFileSync(
      join(root, `workflows/${id}.workflow.ts`),
      `import { defineWorkflow } from '${AUTHOR}'
export default defineWorkflow({ id: '${id}', on: '${on}', run: ({ step }) => step.run('only', () => { ${step} }) })`,
    )
  workflow('harmless', EVENT_TYPE, '')
  workflow('harmful', HARMFUL, 'for (;;) {}')
  // The loop outlives the measurement.
  writeFileSync(join(root, 'config/upshot.config.ts'), "export default { engine: { hang: '1h' }, drain: '1s' }")
  return root
}

/** Milliseconds from each request to its 200. */
async function sendAll(url: string, agent: Agent, count: number): Promise<number[]> {
  const times: Promise<number>[] = []
  for (let sent = 0; sent < count; sent++) {
    times.push(deliver(url, agent, EVENT_TYPE))
    await sleep(PACE_MS)
  }
  return Promise.all(times)
}

function deliver(url: string, agent: Agent, type: string): Promise<number> {
  const body = makeDelivery().body.replace(`"${EVENT_TYPE}"`, `"${type}"`)
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature }
  const begunAt = performance.now()
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - begunAt)
        else reject(new Error(`a delivery was answered ${response.statusCode}`))
      })
    })
    sending.on('error', reject).end(body)
  })
}
