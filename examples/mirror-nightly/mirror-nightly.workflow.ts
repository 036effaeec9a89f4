import { join } from 'node:path'
import { cron, defineWorkflow } from 'upshot'
import { localName } from 'upshot/files'

/** The folder of the copies. A test sets another one. */
export const mirror = { folder: 'data/mirror' }

/** Copies each file of a storage to this machine at three in the morning. */
export default defineWorkflow({
  id: 'mirror-nightly',
  on: cron('0 3 * * *', { timezone: 'Europe/Berlin' }),
  async run({ files }) {
    const { items, complete } = await files.snapshot({ service: 'storage_a', recursive: true })
    const found = items.filter(({ type }) => type === 'file')
    for (const file of found) {
      // The id keeps files of one name apart; `localName` makes a foreign name safe on disk. A
      // download that broke off is resumed, and the file appears only when it is whole.
      await files.download(file, { to: join(mirror.folder, localName(file.id), localName(file.name)) })
    }
    return { copied: found.length, complete }
  },
})
