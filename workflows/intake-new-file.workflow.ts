import { posix } from 'node:path'
import { defineWorkflow, type FileEntry, type FilesApi } from 'upshot'
import { intakePolicy } from '../config/intake-policy.ts'
import { paths } from '../config/paths.ts'
import { type CreatedFile, fileCreated } from './events.ts'
import { writeJson } from './write-whole.ts'

/**
 * Hashes each new file, deletes what the policy forbids, and writes a record of it named by the
 * event's id.
 */
export default defineWorkflow({
  id: 'intake-new-file',
  on: fileCreated,
  where: ({ data }) => intakePolicy.folders.some((folder) => data.file.path.startsWith(posix.join(folder, '/'))),
  timeout: { step: '15m' },
  async run({ event, files, step, log }) {
    const { file } = event.data
    const isTooLarge = file.size > intakePolicy.largestBytes
    const hash = isTooLarge ? null : await files.hash(file)
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

/** Deletes a forbidden file, unless anything about it is not as the event said. */
async function settle(files: FilesApi, file: CreatedFile, forbidden: string | null): Promise<Decision> {
  const entry = await files.find(file)
  if (!entry) return 'gone'
  if (!isAsAnnounced(entry, file)) return 'changed'
  if (!forbidden) return 'kept'
  const { outcome } = await files.delete(file, { expect: file })
  if (outcome === 'changed') return 'changed'
  // One that is gone by now was there a moment ago: a crash came between its deletion and our
  // knowing of it.
  return outcome === 'dry_run' ? 'kept' : 'deleted'
}

/** Why the policy forbids a file; null when it does not. */
function findFault({ name, size }: CreatedFile): string | null {
  if (intakePolicy.forbiddenNames.some((pattern) => pattern.test(name))) return 'its name'
  if (size > intakePolicy.largestBytes) return `its size: more than ${intakePolicy.largestBytes} bytes`
  return null
}

/** A file that is not what the event told of is another matter, and none of ours. */
function isAsAnnounced(entry: FileEntry, file: CreatedFile): boolean {
  const isSamePlace = entry.type === 'file' && entry.path === file.path && entry.name === file.name
  const isSameDate = Date.parse(entry.modifiedAt ?? '') === Date.parse(file.modifiedAt)
  return isSamePlace && isSameDate && entry.size === file.size
}
