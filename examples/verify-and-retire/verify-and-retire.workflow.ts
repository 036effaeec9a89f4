import { defineWorkflow } from 'upshot'
import { transferCompleted } from '../events.ts'

/** Deletes the source of a transfer 15 minutes later, if its copy is proven to be the same. */
export default defineWorkflow({
  id: 'verify-and-retire',
  on: transferCompleted,
  async run({ event, files, step }) {
    const { source, destination } = event.data.transfer
    const sent = await files.get({ service: source.service, id: source.fileId })
    await step.sleep('grace', '15m')
    const before = await files.hash(sent)
    const after = await files.hash({ service: destination.service, id: destination.fileId })
    // Equal hashes alone prove nothing: two error pages have them, too. A known size does.
    if (before?.proof !== 'size' || after?.proof !== 'size') return 'kept: nothing proves the bytes'
    if (before.sha256 !== after.sha256) return 'kept: the copy is not the same'
    const { outcome } = await files.delete(sent, { expect: sent })
    return outcome === 'changed' ? 'kept: it has changed' : 'deleted'
  },
})
