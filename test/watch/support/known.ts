import { cron } from '../../../src/author/cron.ts'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { NOW } from './run-notices.ts'

export async function addTestEndpoint(store: Store, name: string): Promise<void> {
  await store.addEndpoint(planEndpoint({ name }, NOW))
}

/** Workflows that run on `file.created` and every night. */
export async function saveTestWorkflows(store: Store, ...ids: string[]): Promise<void> {
  const workflows = ids.map((id) => ({
    id,
    file: `${id}.workflow.ts`,
    eventTypes: ['file.created', 'transfer.*'],
    schedule: cron('0 3 * * *'),
  }))
  await store.saveWorkflows({ workflows, broken: [] }, NOW)
}
