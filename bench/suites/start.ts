import { Agent, request } from 'node:http'
import { join } from 'node:path'
import type { Bench, Suite } from '../bench.ts'
import { makeDelivery } from '../deliveries.ts'
import { type Goal, judge, median, percentile, type Result } from '../result.ts'

const GOAL: Goal = { atMost: 5 }
const WARM_UPS = 100

/** How soon author code runs after the sender has its answer, when nothing else is going on. */
export const start: Suite = { names: ['start.medianMs', 'start.p99Ms'], run: runStart }

async function runStart(bench: Bench): Promise<Result[]> {
  await using target = bench.startTarget('workflow.ts')
  const url = await target.call<string>('start', { file: join(bench.folder, 'start.db') })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  const wanted = WARM_UPS + (bench.isQuick ? 400 : 2_000)
  await bench.patience.waitForCalm()
  // One at a time: the next delivery is sent when the run of the last one is over and its process
  // idle again.
  for (let sent = 0; sent < wanted; sent++) {
    const next = target.call<number>('nextStart')
    await deliver(url, agent)
    times.push(await next)
  }
  agent.destroy()
  const measured = times.slice(WARM_UPS)
  bench.say(`  ${measured.length} single deliveries`)
  return [judge('start.medianMs', median(measured), 'ms', GOAL), judge('start.p99Ms', percentile(measured, 0.99), 'ms')]
}

function deliver(url: string, agent: Agent): Promise<void> {
  const { signature, body } = makeDelivery()
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature }
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`a delivery was answered ${response.statusCode}`))
      })
    })
    sending.on('error', reject).end(body)
  })
}
