import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import { DEFAULT_GUARD, type Guard } from '../../src/core/safety/guard.ts'

export const FILES_PER_RUN = 8
export const PER_RUN = 4

/** The ways in which a run deletes its files, one for each third of the runs. */
export const WAYS = ['one by one', 'side by side', 'as a list'] as const

/** Deletes the files of its event, half of which it may delete without a person's word. */
export const hunt: AnyWorkflow = defineWorkflow({
  id: 'hunt',
  on: 'file.created',
  guard: { deletes: { perRun: PER_RUN } },
  retry: { attempts: 100, min: 1, max: 50 },
  async run({ event, files }) {
    const { path, way } = event.data as { path: string; way: (typeof WAYS)[number] }
    const listing = await files.snapshot({ service: 'storage_a', path })
    const all = listing.items.map(({ service, id }) => ({ service, id }))
    if (way === 'as a list') await files.deleteAll(listing.items, { of: listing })
    else if (way === 'side by side') await Promise.all(all.map((file) => files.delete(file)))
    else for (const file of all) await files.delete(file)
  },
})

/** The guard of a siege, in which all runs together may delete so many files a day. */
export function siegeGuard(perDay: number): Guard {
  const { workflow } = DEFAULT_GUARD
  return { all: { deletes: { perDay } }, account: {}, storage: {}, workflow }
}
