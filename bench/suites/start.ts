import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { makeDelivery } from '../deliveries.ts'
import { type Goal, judge, median, percentile, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const GOAL: Goal = { atMost: 5 }
/** Deliveries that are measured, and those before them. */
const MEASURED = { once: 50, quick: 400, full: 2_000 }
const WARM_UPS = { once: 0, quick: 100, full: 100 }

/** Time from the sender's answer to the first line of author code, in an idle app. */
export const start: Suite = { names: ['start.medianMs', 'start.p99Ms'], run: runStart }

async function runStart(bench: Bench): Promise<Result[]> {
  await using target = bench.startTarget('workflow.ts')
  const url = await target.call<string>('start', { file: join(bench.folder, 'start.db') })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  const wanted = WARM_UPS[bench.size] + MEASURED[bench.size]
  await bench.patience.waitForCalm()
  // One delivery at a time: the next one is sent once the run of the last one has ended.
  for (let sent = 0; sent < wanted; sent++) {
    const next = target.call<number>('nextStart')
    await deliver(url, agent)
    times.push(await next)
  }
  agent.destroy()
  const measured = times.slice(WARM_UPS[bench.size])
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
