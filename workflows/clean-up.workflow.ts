import { defineEvent, defineWorkflow, storageName, z } from 'upshot'

const DAY_MS = 86_400_000

/** Asked for by hand: `upshot trigger cleanup.asked --set data.path=/exports`. */
const cleanupAsked = defineEvent('cleanup.asked', {
  data: z.object({
    service: storageName.default('storage_a'),
    path: z.string().startsWith('/'),
    olderThanDays: z.int().positive().default(30),
  }),
})

/**
 * Deletes the files below a folder that nobody has changed for a while: all that are too old, or
 * none. More than a tenth of the folder, or more than 200 files, waits for a person.
 */
export default defineWorkflow({
  id: 'clean-up',
  on: cleanupAsked,
  guard: { deletes: { perRun: 200, perDay: 1_000, share: '10%', shareFrom: 10 }, bytes: { perDay: '50 GB' } },
  async run({ event, files, now }) {
    const { service, path, olderThanDays } = event.data
    const listing = await files.snapshot({ service, path, recursive: true })
    // A partial list would make the share look larger than it is.
    if (!listing.complete) throw new Error(`the listing of ${service}:${path} is not complete: ${listing.reason}`)
    const before = now() - olderThanDays * DAY_MS
    const isOld = (modifiedAt: string | null) => modifiedAt !== null && Date.parse(modifiedAt) < before
    const doomed = listing.items.filter(({ type, modifiedAt }) => type === 'file' && isOld(modifiedAt))
    const { deleted, changed, gone } = await files.deleteAll(doomed, { of: listing })
    return { looked: listing.items.length, deleted: deleted.length, changed: changed.length, gone: gone.length }
  },
})
