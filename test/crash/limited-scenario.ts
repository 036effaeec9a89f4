import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { planRoutes } from '../../src/author/read-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import type { FilesApi } from '../../src/core/service/files-api.ts'
import type { Store } from '../../src/core/store/store.ts'
import { systemClock } from '../../src/core/time.ts'
import { Worker } from '../../src/engine/worker.ts'
import type { NoticeBus } from '../../src/notices/notice-bus.ts'
import { incoming } from '../support/fixtures.ts'

export const EVENT_IDS = ['evt_1', 'evt_2', 'evt_3']

/**
 * A batch, a debounce, a throttled workflow, and one whose places are handed on. `note` gets a line
 * for each step that begins.
 */
function defineLimited(note: (line: string) => void): AnyWorkflow[] {
  return [
    defineWorkflow({
      id: 'digest',
      on: '*',
      batch: { size: 2, wait: 20 },
      run: ({ events, run, step }) => step.run('digest', () => note(`${run.id} digest ${events.length}`)),
    }),
    defineWorkflow({
      id: 'latest',
      on: '*',
      debounce: { wait: 5 },
      run: ({ run, step }) => step.run('latest', () => note(`${run.id} latest`)),
    }),
    defineWorkflow({
      id: 'narrow',
      on: '*',
      concurrency: { limit: 1 },
      throttle: { limit: 2, per: 10 },
      async run({ run, step }) {
        await step.run('before', () => note(`${run.id} before`))
        await step.sleep('nap', 1)
        await step.run('after', () => note(`${run.id} after`))
      },
    }),
    defineWorkflow({
      id: 'single',
      on: '*',
      concurrency: { limit: 1 },
      async run({ run, step }) {
        await step.run('in', () => note(`${run.id} in`))
        await step.run('out', () => note(`${run.id} out`))
      },
    }),
  ]
}

/** Stores the events and their runs, as the receiver does. */
export async function storeEvents(store: Store): Promise<void> {
  const routes = defineLimited(() => {}).flatMap(planRoutes)
  const priorities = Object.fromEntries(routes.map((route) => [route.workflow, route.priority ?? 0]))
  for (const id of EVENT_IDS) {
    await store.saveDelivery(incoming(id, { workflows: Object.keys(priorities), priorities, receivedAt: Date.now() }))
  }
}

/** A worker on this store with all workflows of the scenario. */
export function createLimitedWorker(dataDir: string, life: string, store: Store, notices: NoticeBus): Worker {
  const workflows = defineLimited((line) => appendFileSync(linesFile(dataDir, life), `${line}\n`))
  return new Worker({
    store,
    clock: systemClock,
    random: () => 0.5,
    publish: notices.publish,
    findWorkflow: (id) => workflows.find((workflow) => workflow.id === id),
    filesFor: () => ({}) as FilesApi,
    routes: () => [],
    guard: DEFAULT_POLICY,
    slots: 3,
    admitsAhead: () => true,
    drainMs: 1_000,
  })
}

export function readLines(dataDir: string, life: string): string[] {
  const file = linesFile(dataDir, life)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : []
}

function linesFile(dataDir: string, life: string): string {
  return join(dataDir, `lines-${life}.txt`)
}
