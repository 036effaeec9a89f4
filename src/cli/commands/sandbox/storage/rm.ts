import { posix } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { WireEntry } from '../../../../sandbox/index.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import type { Output } from '../../../terminal/output.ts'
import { parseSandboxPlace, type SandboxPlace } from '../control/place.ts'
import { atSandbox, findSandbox, type SandboxControl, withQuery } from '../control/sandbox-control.ts'

/**
 * `upshot sandbox storage rm <storage:/path>`: says which files first; emits `file.deleted` for
 * each.
 */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<storage:/path>', 'a file or a folder', parseSandboxPlace)
    .option('--recursive', 'a folder with everything in it')
    .action(async (place, { recursive = false, ...choice }) => {
      const sandbox = await findSandbox(choice)
      const { entry, files } = await look(sandbox, place)
      const name = `${place.storage}:${entry.path}`
      if (entry.type === 'folder' && !recursive) {
        throw new UpshotError('invalid_request', `${name} is a folder. Nothing was deleted.`, {
          details: { fix: 'Add --recursive to delete it with everything in it.' },
        })
      }
      const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0)
      const isMeant = await confirm(out, {
        will: `delete ${name} for good: ${files.length} files (${formatBytes(bytes)})`,
        things: files.map(({ path }) => `${place.storage}:${path}`),
      })
      const path = entry.path
      if (isMeant) await sandbox.delete(withQuery(`/storages/${place.storage}/content`, { path }))
      out.result({ storage: place.storage, path, type: entry.type, files: files.length, deleted: isMeant }, () => [
        isMeant ? `${name} is deleted, with ${files.length} files.` : 'Nothing was deleted.',
      ])
    })
}

/** The entry, and the files that go with it. */
async function look(
  sandbox: SandboxControl,
  { storage, path: given }: SandboxPlace,
): Promise<{ entry: WireEntry; files: WireEntry[] }> {
  const path = posix.normalize(given).replace(/(?<=.)\/$/, '')
  if (path === '/')
    throw new UpshotError('invalid_request', `${storage}:/ is a whole storage, which cannot be deleted.`)
  const list = (folder: string, recursive: boolean) =>
    sandbox.get<WireEntry[]>(withQuery(`/storages/${storage}`, { path: folder, recursive }))
  const entry = (await list(posix.dirname(path), false)).find((each) => each.path === path)
  if (entry === undefined) throw new UpshotError('not_found', `There is nothing at ${storage}:${path}.`)
  const found = entry.type === 'file' ? [entry] : await list(path, true)
  return { entry, files: found.filter(({ type }) => type === 'file') }
}
