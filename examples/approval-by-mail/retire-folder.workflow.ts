import { defineWorkflow } from 'upshot'

/** Deletes what is in a folder. Where that is more than the guard allows, people are asked. */
export default defineWorkflow({
  id: 'retire-folder',
  on: 'batch.done',
  async run({ files }) {
    const listing = await files.snapshot({ service: 'storage_a', path: '/done' })
    const { deleted } = await files.deleteAll(listing.items, { of: listing })
    return { deleted: deleted.length }
  },
})
