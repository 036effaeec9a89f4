import { cron } from '../../src/author/cron.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { callable } from '../../src/author/trigger.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import type { FilesApi } from '../../src/core/service/files-api.ts'
import { systemClock } from '../../src/core/time.ts'
import { Worker } from '../../src/engine/worker.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { Scheduler } from '../../src/schedule/scheduler.ts'
import { openPlace } from '../support/open-place.ts'
import { counted, LINES, PARTS } from './annotations-scenario.ts'

const mirror = defineWorkflow({
  id: 'mirror',
  on: callable(counted),
  tags: ({ n }) => ({ n }),
  async run({ input, step, tag, progress }) {
    for (let part = 1; part <= PARTS; part++) {
      await step.run(['part', part], () => part)
      progress(part, PARTS, 'parts')
      tag(`part-${part}`, input.n)
    }
    await step.sleep('nap', 20)
    return input.n
  },
})

const lines = LINES.map((id) =>
  defineWorkflow({ id, on: cron('* * * * * *'), run: ({ step }) => step.run('once', () => 'tick') }),
)
const workflows = new Map<string, AnyWorkflow>([mirror, ...lines].map((workflow) => [workflow.id, workflow]))

const store = await openPlace(JSON.parse(process.argv[2] ?? ''))
const { publish } = createNoticeBus()
const worker = new Worker({
  store,
  publish,
  clock: systemClock,
  random: Math.random,
  guard: DEFAULT_POLICY,
  slots: 10,
  drainMs: 1_000,
  beatMs: 100,
  pollMs: 50,
  findWorkflow: (id) => workflows.get(id),
  filesFor: () => ({}) as FilesApi,
  routes: () => [],
})
process.on('disconnect', () => process.exit(0))
await worker.start()
new Scheduler({ store, publish, clock: systemClock, maxSleepMs: 100 }).start()
process.send?.('started')
