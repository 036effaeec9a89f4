import { defineWorkflow } from 'upshot'
import { fileCreated } from '../events.ts'

/** The folder in which each account takes in files. */
const INBOX: Record<string, string> = { default: '/inbox/', archive: '/intake/' }

/** One workflow for two accounts of the service. `files` has the key of the run's account. */
export default defineWorkflow({
  id: 'two-accounts',
  on: fileCreated,
  // Each account has a line of its own: a burst of one does not hold up the other.
  concurrency: { limit: 2, key: ({ data }) => data.service },
  async run({ event, files, account }) {
    const { service, file } = event.data
    if (!file.path.startsWith(INBOX[account] ?? '/inbox/')) return { account, ignored: file.path }
    const hash = await files.hash({ service, id: file.id })
    return { account, path: file.path, sha256: hash?.sha256 ?? null }
  },
})
