import { callable, defineWorkflow, type FileEntry, type FilesApi, z } from 'upshot'

const request = z.object({ folder: z.string(), days: z.int().positive().default(30) })

/**
 * Watches over a migration from `storage_a` to `storage_b`. Each day it compares both. Once every
 * file is proven to be there, it asks, and then empties the old storage.
 */
export default defineWorkflow({
  id: 'migrate-storage',
  on: callable(request),
  guard: { deletes: { perRun: 10_000, perHour: 10_000, perDay: 10_000, share: '100%' } },
  async run({ input: { folder, days }, files, step, log }) {
    for (let day = 1; day <= days; day++) {
      const { missing, proven } = await compare(files, folder)
      if (missing.length === 0) return retire(files, step, proven)
      log.info(`day ${day}: ${missing.length} files are not there yet`, { first: missing[0] ?? '' })
      await step.sleep(['day', day], '1d')
    }
    return { done: false, deleted: 0 }
  },
})

/** Files of the old storage with a proven copy at the same path, and the paths of the others. */
async function compare(files: FilesApi, folder: string) {
  const olds = await files.snapshot({ service: 'storage_a', path: folder, recursive: true })
  const news = await files.snapshot({ service: 'storage_b', path: folder, recursive: true })
  // Nothing may be concluded from a list that was cut short.
  if (!olds.complete || !news.complete) return { missing: ['a listing was not complete'], proven: [] }
  const copies = new Map(news.items.map((entry) => [entry.path, entry]))
  const proven: FileEntry[] = []
  const missing: string[] = []
  for (const old of olds.items.filter(({ type }) => type === 'file')) {
    const copy = copies.get(old.path)
    const isSame = copy !== undefined && copy.size === old.size && (await hasSameBytes(files, old, copy))
    if (isSame) proven.push(old)
    else missing.push(old.path)
  }
  return { missing, proven }
}

async function hasSameBytes(files: FilesApi, old: FileEntry, copy: FileEntry): Promise<boolean> {
  const [before, after] = [await files.hash(old), await files.hash(copy)]
  return before?.proof === 'size' && after?.proof === 'size' && before.sha256 === after.sha256
}

type Ask = { approve(name: string, request: { ask: string; deletes: FileEntry[] }): Promise<{ approved: boolean }> }

async function retire(files: FilesApi, step: Ask, proven: FileEntry[]) {
  const ask = `All ${proven.length} files are in the new storage. Delete them from the old one?`
  const { approved } = await step.approve('retire', { ask, deletes: proven })
  if (!approved) return { done: true, deleted: 0 }
  const { deleted } = await files.deleteAll(proven)
  return { done: true, deleted: deleted.length }
}
