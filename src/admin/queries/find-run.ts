import { UpshotError } from '../../core/errors.ts'
import type { Run } from '../../core/runs/run.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { resolveId } from './resolve-id.ts'

/** The run with this id, or with the only id that begins so; null without one. */
export async function findRun(store: Pick<ReadStore, 'findRun' | 'listRunIds'>, id: string): Promise<Run | null> {
  return resolveId(id, {
    prefix: 'run_',
    find: (whole) => store.findRun(whole),
    list: (beginning, limit) => store.listRunIds(beginning, limit),
  })
}

/** The same; throws `not_found` without one. */
export async function requireRun(store: Pick<ReadStore, 'findRun' | 'listRunIds'>, id: string): Promise<Run> {
  const run = await findRun(store, id)
  if (run) return run
  throw new UpshotError('not_found', `There is no run ${id}, or retention has removed it.`, {
    fix: 'List the runs with "upshot runs list".',
  })
}
