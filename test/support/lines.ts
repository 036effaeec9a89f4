import { cron, type ScheduleOptions } from '../../src/author/cron.ts'
import type { Store } from '../../src/core/store/store.ts'

/** Saves a cron line beside the workflows that are there, as the loader of its module does. */
export async function saveLine(
  store: Pick<Store, 'listWorkflows' | 'saveWorkflows'>,
  id: string,
  now: number,
  { line = '0 3 * * *', ...options }: ScheduleOptions & { line?: string } = {},
): Promise<void> {
  const others = (await store.listWorkflows()).filter((each) => each.id !== id)
  const added = { id, file: `${id}.workflow.ts`, eventTypes: [], schedule: cron(line, options) }
  await store.saveWorkflows({ workflows: [...others, added], broken: [] }, now)
}

/** The moment after which ticks of a schedule are due. */
export async function lastAt(store: Pick<Store, 'findSchedule'>, id: string): Promise<number> {
  const found = await store.findSchedule(id)
  return Math.max(found?.startedAt ?? 0, found?.handledAt ?? 0)
}
