import { defineWorkflow } from '../../src/author/define-workflow.ts'

const LISTED = { service: 'storage_a', recursive: true } as const

/** Deletes every file of a storage, with one permit for all. */
export const deletesAll = defineWorkflow({
  id: 'deletes-all',
  on: 'bench.many',
  async run({ files }) {
    const listing = await files.snapshot(LISTED)
    const { deleted } = await files.deleteAll(listing.items, { of: listing })
    return deleted.length
  },
})

/** Deletes every file of a storage, one after the other. */
export const deletesInTurn = defineWorkflow({
  id: 'deletes-in-turn',
  on: 'bench.many',
  async run({ files }) {
    const { items } = await files.snapshot(LISTED)
    for (const file of items) await files.delete(file, { expect: file })
    return items.length
  },
})
