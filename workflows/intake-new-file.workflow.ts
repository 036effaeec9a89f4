import { posix } from 'node:path'
import { defineWorkflow, type FileEntry, type FilesApi } from 'upshot'
import { intakePolicy } from '../config/intake-policy.ts'
import { paths } from '../config/paths.ts'
import { type CreatedFile, fileCreated } from './events.ts'
import { writeJson } from './write-whole.ts'

/** Hashes each new file, deletes it if the policy forbids it, and writes a record. */
export default defineWorkflow({
  id: 'intake-new-file',
  on: fileCreated,
  where: ({ data }) => intakePolicy.folders.some((folder) => data.file.path.startsWith(posix.join(folder, '/'))),
  timeout: { step: '15m' },
  async run({ event, files, step, log }) {
    const { file } = event.data
    const isTooLarge = file.size > intakePolicy.maxBytes
    // By its id alone: the hash is of the file as it is now, whatever its event said.
    const hash = isTooLarge ? null : await files.hash({ service: file.service, id: file.id })
    const sha256 = hash?.sha256 ?? null

    const forbidden = findFault(file)
    const decision = await settle(files, file, forbidden)
    log.info(`${file.service}:${file.path} ${decision}`, { forbidden })
    const record = await step.run('write record', () =>
      writeJson(paths.intake, event.id, { decision, forbidden, sha256, event: event.id, file }),
    )
    return { decision, forbidden, sha256, record }
  },
})

type Decision = 'gone' | 'changed' | 'kept' | 'deleted'

/** Deletes a forbidden file, unless it has changed since the event. */
async function settle(files: FilesApi, file: CreatedFile, forbidden: string | null): Promise<Decision> {
  const entry = await files.find(file)
  if (!entry) return 'gone'
  if (!isAsAnnounced(entry, file)) return 'changed'
  if (!forbidden) return 'kept'
  const { outcome } = await files.delete(file, { expect: file })
  if (outcome === 'changed') return 'changed'
  // `gone` counts as deleted: the file was there just now, so a crash hid the result of our delete.
  return outcome === 'dry_run' ? 'kept' : 'deleted'
}

/** Reason that the policy forbids a file, or null. */
function findFault({ name, size }: CreatedFile): string | null {
  if (intakePolicy.forbiddenNames.some((pattern) => pattern.test(name))) return 'its name'
  if (size > intakePolicy.maxBytes) return `its size: more than ${intakePolicy.maxBytes} bytes`
  return null
}

/** Whether the file is still the one that the event describes. */
function isAsAnnounced(entry: FileEntry, file: CreatedFile): boolean {
  const isSamePlace = entry.type === 'file' && entry.path === file.path && entry.name === file.name
  const isSameDate = Date.parse(entry.modifiedAt ?? '') === Date.parse(file.modifiedAt)
  return isSamePlace && isSameDate && entry.size === file.size
}
