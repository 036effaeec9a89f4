import { createHash } from 'node:crypto'
import { access, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cron, defineWorkflow, type FileEntry, type RunContext } from 'upshot'
import { localName } from 'upshot/files'
import { mirror } from '../config/mirror.ts'

/**
 * Downloads new and changed files of a storage, and writes an inventory of the current ones. Each
 * version has a name of its own, and stays when its original is deleted.
 */
export default defineWorkflow({
  id: 'mirror-storage',
  on: cron(mirror.schedule, { timezone: mirror.timezone }),
  timeout: { step: '1h' },
  async run(context) {
    const { files, step, log, tick } = context
    // Lists all pages before the first download: pages shift while files come and go.
    const { items, complete } = await files.snapshot({ service: mirror.service, path: mirror.path, recursive: true })
    if (!complete) log.warn(`only the first ${items.length} entries were listed`)
    const found = items.filter((entry) => entry.type === 'file')
    const missing = await step.run('compare', () => listMissing(found), { effect: 'read' })
    for (const file of found.filter(({ id }) => missing.includes(id))) await copy(context, file)
    const inventory = await step.run('write inventory', () => writeInventory(tick.scheduledFor, found))
    return { files: found.length, copied: missing.length, complete, inventory }
  },
})

/** Ids of the files whose current version has no copy yet. */
async function listMissing(found: readonly FileEntry[]): Promise<string[]> {
  const wanted = found.filter(({ size }) => (size ?? 0) <= mirror.maxBytes)
  const isHere = await Promise.all(wanted.map((file) => exists(placeOf(file))))
  return wanted.filter((_, index) => !isHere[index]).map(({ id }) => id)
}

/** A download is a step: a crash resumes it, and the file appears only when it is complete. */
async function copy({ files, log }: Pick<RunContext, 'files' | 'log'>, file: FileEntry): Promise<void> {
  const { bytes, sha256 } = await files.download(file, { to: placeOf(file) })
  log.info(`${file.service}:${file.path} copied`, { bytes, sha256 })
}

/**
 * Path of a version's copy. `localName` makes foreign names safe; the hash keeps versions and files
 * of one name apart.
 */
export function placeOf(file: FileEntry): string {
  const folders = dirname(file.path).split('/').filter(Boolean).map(localName)
  const mark = createHash('sha256').update(`${file.id} ${file.modifiedAt} ${file.size}`).digest('hex').slice(0, 12)
  return join(mirror.folder, file.service, ...folders, `${mark} ${localName(file.name)}`)
}

/** One line of JSON per file, sorted by path. Readers see either the old list or the new one. */
async function writeInventory(takenAt: Date, found: readonly FileEntry[]): Promise<string> {
  const lines = found
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ id, path, size, modifiedAt, ...file }) =>
      JSON.stringify({ id, path, size, modifiedAt, copy: placeOf({ id, path, size, modifiedAt, ...file }) }),
    )
  const target = join(mirror.folder, 'inventory.jsonl')
  await mkdir(dirname(target), { recursive: true })
  const draft = `${target}.${takenAt.getTime()}.tmp`
  await writeFile(draft, lines.map((line) => `${line}\n`).join(''))
  await rename(draft, target)
  return target
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
