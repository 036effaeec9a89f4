import { createInterface } from 'node:readline'
import { App } from '../../../src/app/app.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { LEASE_MS } from '../../../src/core/runs/lease.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { NO_SERVICE, testConfig } from '../../support/test-config.ts'

/**
 * Program of an app whose clock moves by lines of standard input: `jump <ms>`. Its runs have one
 * step, which ends at the line `go <event>`. It prints what happens as JSON.
 */
const [, , dataDir = '', startedAt = ''] = process.argv

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const gates = new Map<string, PromiseWithResolvers<void>>()
const gateOf = (event: string) => {
  const gate = gates.get(event) ?? Promise.withResolvers<void>()
  gates.set(event, gate)
  return gate
}

const slow = defineWorkflow({
  id: 'slow',
  on: 'file.created',
  run: ({ event, step }) =>
    step.run('work', async () => {
      say({ kind: 'begun', event: event.id })
      await gateOf(event.id).promise
    }),
})
// Time goes on by itself: only the clock is set.
const clock = Object.assign(new ManualClock(Number(startedAt)), { uptime: () => performance.now() })
const notices = createNoticeBus()
for (const kind of ['run.completed', 'run.lost', 'runs.recovered', 'step.failed'] as const) notices.subscribe(kind, say)
const app = await App.create(testConfig(dataDir, { service: NO_SERVICE }), { workflows: [slow], notices, clock })
const { endpoints } = await app.start()
say({ kind: 'ready', endpoint: endpoints.service })

for await (const line of createInterface({ input: process.stdin })) {
  const [word, value = ''] = line.split(' ')
  if (word === 'go') gateOf(value).resolve()
  if (word !== 'jump') continue
  clock.advance(Number(value))
  // As a heartbeat does, so that its result is known here.
  const { count } = await app.store.recoverRuns(clock.now(), LEASE_MS)
  say({ kind: 'jumped', recovered: count })
}
await app.stop()
