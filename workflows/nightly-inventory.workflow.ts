import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cron, defineWorkflow, type FileEntry, STORAGES, type StorageName } from 'upshot'
import { inventory } from '../config/inventory.ts'
import { paths } from '../config/paths.ts'
import { parseCsv, toCsv } from './csv.ts'
import { writeWhole } from './write-whole.ts'

/** Bound of one storage's entries, which are in memory at once. */
const MAX_ENTRIES = 1_000_000

const COLUMNS = ['id', 'path', 'size', 'mimeType', 'createdAt', 'modifiedAt'] as const

/** Writes a CSV list of each storage's files, and the changes since the previous snapshot. */
export default defineWorkflow({
  id: 'nightly-inventory',
  on: cron(inventory.schedule, { timezone: inventory.timezone }),
  async run({ tick, files, step }) {
    const takenAt = tick.scheduledFor.toISOString().slice(0, 19).replaceAll(':', '-')
    const takeInventory = async (service: StorageName) => {
      const { items, reason } = await files.snapshot({ service, recursive: true }, { max: MAX_ENTRIES })
      const found = items.filter(({ type }) => type === 'file')
      // The result of a step is limited in size, so this one writes the list to disk. Each page
      // above is a step of its own.
      const name = reason === null ? takenAt : `${takenAt}.partial`
      const snapshot = await step.run(['write snapshot', service], () => writeSnapshot(service, name, found))
      // A file that a partial list lacks may exist, so nothing is called removed on its strength.
      if (reason !== null) return { service, snapshot, partial: reason, changes: null }
      const changes = await step.run(['write changes', service], () => writeChanges(service, takenAt))
      return { service, snapshot, partial: null, changes }
    }
    // A storage that is down does not stop the others, but it fails the run in the end.
    const results = await Promise.allSettled(STORAGES.map(takeInventory))
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason
      return result.value
    })
  },
})

async function writeSnapshot(service: StorageName, name: string, found: FileEntry[]) {
  const sorted = found.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const csv = toCsv([COLUMNS, ...sorted.map((file) => COLUMNS.map((column) => file[column]))])
  const path = await writeWhole(snapshotPath(service, name), csv)
  return { path, files: found.length, sha256: createHash('sha256').update(csv).digest('hex') }
}

/** Returns null for the first snapshot of a storage. */
async function writeChanges(service: StorageName, takenAt: string) {
  const taken = (await readdir(join(paths.inventory, service))).filter((name) => /^[\dT-]{19}\.csv$/.test(name))
  const previous = taken.sort().findLast((name) => name < `${takenAt}.csv`)
  if (previous === undefined) return null
  const before = await readSnapshot(join(paths.inventory, service, previous))
  const after = await readSnapshot(snapshotPath(service, takenAt))

  const added = [...after].filter(([id]) => !before.has(id))
  const removed = [...before].filter(([id]) => !after.has(id))
  const changed = [...after].filter(([id, row]) => before.get(id)?.some((cell, column) => cell !== row[column]))
  const rows = Object.entries({ added, removed, changed }).flatMap(([change, all]) =>
    all.map(([, row]) => [change, ...row]),
  )
  const path = await writeWhole(snapshotPath(service, `${takenAt}.changes`), toCsv([['change', ...COLUMNS], ...rows]))
  return { since: previous, path, added: added.length, removed: removed.length, changed: changed.length }
}

/** Rows of a snapshot by file id. */
async function readSnapshot(path: string): Promise<Map<string, string[]>> {
  const [, ...rows] = parseCsv(await readFile(path, 'utf8'))
  return new Map(rows.map((row) => [row[0] ?? '', row]))
}

function snapshotPath(service: StorageName, name: string): string {
  return join(paths.inventory, service, `${name}.csv`)
}
