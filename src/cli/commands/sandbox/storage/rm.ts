import { posix } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { WireEntry } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import { parseSandboxPlace, type SandboxPlace } from '../control/place.ts'
import { atSandbox, findSandbox, type SandboxControl, withQuery } from '../control/sandbox-control.ts'

/** `upshot sandbox storage rm <storage:/path>`: asks, then emits `file.deleted` for each file. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<storage:/path>', 'file or folder, such as storage_a:/in', parseSandboxPlace)
    .option('--recursive', 'delete a folder with everything in it')
    .action(async (place, { recursive = false, ...choice }) => {
      const sandbox = await findSandbox(project, choice)
      const { entry, files } = await readEntry(sandbox, place)
      const name = `${place.storage}:${entry.path}`
      if (entry.type === 'folder' && !recursive) {
        throw new UpshotError('invalid_request', `${name} is a folder. Nothing was deleted.`, {
          details: { fix: 'Add --recursive to delete it with everything in it.' },
        })
      }
      const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0)
      const isConfirmed = await confirm(out, {
        will: `delete ${name} for good: ${files.length} files (${formatBytes(bytes)})`,
        things: files.map(({ path }) => `${place.storage}:${path}`),
      })
      const path = entry.path
      if (isConfirmed) await sandbox.delete(withQuery(`/storages/${place.storage}/content`, { path }))
      out.result({ storage: place.storage, path, type: entry.type, files: files.length, deleted: isConfirmed }, () => [
        isConfirmed ? `Deleted ${name} with ${files.length} files.` : 'Nothing was deleted.',
      ])
    })
}

/** The entry and all files in it. Throws for a whole storage, and `not_found`. */
async function readEntry(
  sandbox: SandboxControl,
  { storage, path: given }: SandboxPlace,
): Promise<{ entry: WireEntry; files: WireEntry[] }> {
  const path = posix.normalize(given).replace(/(?<=.)\/$/, '')
  if (path === '/')
    throw new UpshotError('invalid_request', `${storage}:/ is a whole storage, which cannot be deleted.`, {
      details: { fix: 'Delete its entries, or use "upshot sandbox reset".' },
    })
  const list = (folder: string, recursive: boolean) =>
    sandbox.get<WireEntry[]>(withQuery(`/storages/${storage}`, { path: folder, recursive }))
  const entry = (await list(posix.dirname(path), false)).find((each) => each.path === path)
  if (entry === undefined)
    throw new UpshotError('not_found', `There is nothing at ${storage}:${path}.`, {
      details: { fix: `List the parent folder: upshot sandbox storage ls ${storage}:${posix.dirname(path)}` },
    })
  const found = entry.type === 'file' ? [entry] : await list(path, true)
  return { entry, files: found.filter(({ type }) => type === 'file') }
}
