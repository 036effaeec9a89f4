import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPE } from '../deliveries.ts'
import { deliver, PACE_MS, SERVICE, sendPaced } from '../load/paced-deliveries.ts'
import { startApp } from '../processes/app-process.ts'
import { judge, median, percentile, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

/** Deliveries to the whole app while author code blocks the engine's thread without end. */
export const blocked: Suite = { names: ['blocked.p99Ms', 'blocked.addedMs', 'blocked.calmMs'], run: runBlocked }

const AUTHOR = resolve(import.meta.dirname, '../../src/author/index.ts')
/** Type of the events that start the harmful workflow. */
const HARMFUL = 'file.deleted'
const DELIVERIES = { once: 100, quick: 600, full: 2_000 }
/** Time for the loop to begin. */
const BLOCK_WITHIN_MS = 500

async function runBlocked(bench: Bench): Promise<Result[]> {
  const before: number[] = []
  const beside: number[] = []
  const deliveries = DELIVERIES[bench.size]
  for (let round = 0; round < (bench.isQuick ? 1 : 3); round++) {
    await bench.patience.waitForCalm()
    await using app = await startApp({ root: makeProject(bench.folder), environment: SERVICE })
    const url = app.urls['endpoint service'] ?? ''
    const agent = new Agent({ keepAlive: true })
    await sendPaced(url, agent, deliveries / 4)
    before.push(percentile(await sendPaced(url, agent, deliveries), 0.99))
    await deliver(url, agent, HARMFUL)
    await sleep(BLOCK_WITHIN_MS)
    beside.push(percentile(await sendPaced(url, agent, deliveries), 0.99))
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
