import { openAsBlob, statSync } from 'node:fs'
import { basename, posix } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { refuse, UpshotError } from '../../../core/errors.ts'
import { STORAGES, type StorageName } from '../../../core/service/storage.ts'
import type { WireEntry } from '../../../sandbox/index.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import type { Column } from '../../terminal/table.ts'
import { doConfirmed, isRehearsal, sandboxCommand, showRows } from './sandbox-command.ts'
import { type SandboxControl, withQuery } from './sandbox-control.ts'

export const put = sandboxCommand(
  (command) =>
    command
      .argument('<file>', 'local file, or - for standard input')
      .argument('<storage:/path>', 'target path; after a final / the name of the file is added', parseSandboxPlace),
  async ({ out, sandbox }, _, file, { storage, path: given }) => {
    if (file === '-' && given.endsWith('/'))
      throw new UpshotError('invalid_request', 'Standard input has no file name to add to the path.', {
        fix: 'Write the whole path, such as storage_a:/in/report.pdf.',
      })
    const path = given.endsWith('/') ? `${given}${basename(file)}` : given
    const content = file === '-' ? await readAll(out) : await openFile(file)
    if (isRehearsal(out, `put ${formatBytes(content.size)} at ${storage}:${path}`)) return
    const entry = await sandbox.put<WireEntry>(withQuery(`/storages/${storage}/content`, { path }), content)
    out.result({ storage, ...entry }, () => [`${storage}:${entry.path}  ${formatBytes(entry.size ?? 0)}  ${entry.id}`])
  },
)

/** The content of a file of any size; it is read while it is sent. */
async function openFile(file: string): Promise<Blob> {
  try {
    if (statSync(file).isFile()) return await openAsBlob(file)
  } catch (cause) {
    throw new UpshotError('invalid_request', `Cannot read the file ${file}.`, {
      cause,
      fix: 'Name a file that exists and that this user may read.',
    })
  }
  throw new UpshotError('invalid_request', `${file} is not a file.`, {
    fix: 'Copy a folder into the directory of the storage, which "upshot sandbox status" prints.',
  })
}

async function readAll({ streams: { stdin } }: Output): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for await (const chunk of stdin ?? []) chunks.push(new Uint8Array(Buffer.from(chunk)))
  return new Blob(chunks)
}

export const ls = sandboxCommand(
  (command) =>
    command
      .argument('<storage:/path>', 'a folder, such as storage_a:/in', parseSandboxPlace)
      .option('--recursive', 'include the entries of its subfolders'),
  async ({ out, sandbox }, { recursive = false }, { storage, path }) => {
    const entries = await sandbox.get<WireEntry[]>(withQuery(`/storages/${storage}`, { path, recursive }))
    showRows(out, entries, LS_COLUMNS, `There is nothing in ${storage}:${path}.`)
  },
)

const LS_COLUMNS: Column<WireEntry>[] = [
  { title: 'PATH', value: ({ path, type }) => (type === 'folder' ? `${path}/` : path) },
  { title: 'SIZE', value: ({ size }) => formatBytes(size ?? null), align: 'right' },
  { title: 'MODIFIED', value: ({ modifiedAt }) => formatMoment(modifiedAt) },
  { title: 'ID', value: ({ id }) => id },
]

/** `upshot sandbox storage rm <storage:/path>`: asks, then emits `file.deleted` for each file. */
export const rm = sandboxCommand(
  (command) =>
    command
      .argument('<storage:/path>', 'file or folder, such as storage_a:/in', parseSandboxPlace)
      .option('--recursive', 'delete a folder with everything in it'),
  async ({ out, sandbox }, { recursive = false }, place) => {
    const { storage } = place
    const { entry, files } = await readEntry(sandbox, place)
    const { path, type } = entry
    const name = `${storage}:${path}`
    if (type === 'folder' && !recursive) {
      throw refuse(`${name} is a folder. Nothing was deleted.`, 'Add --recursive to delete it with everything in it.')
    }
    const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0)
    await doConfirmed(out, {
      will: `delete ${name} for good: ${files.length} files (${formatBytes(bytes)})`,
      things: files.map((file) => `${storage}:${file.path}`),
      act: () => sandbox.delete(withQuery(`/storages/${storage}/content`, { path })),
      data: { storage, path, type, files: files.length },
      is: 'deleted',
      done: `Deleted ${name} with ${files.length} files.`,
    })
  },
)

/** The entry and all files in it. Throws for a whole storage, and `not_found`. */
async function readEntry(
  sandbox: SandboxControl,
  { storage, path: given }: SandboxPlace,
): Promise<{ entry: WireEntry; files: WireEntry[] }> {
  const path = posix.normalize(given).replace(/(?<=.)\/$/, '')
  if (path === '/')
    throw new UpshotError('invalid_request', `${storage}:/ is a whole storage, which cannot be deleted.`, {
      fix: 'Delete its entries, or use "upshot sandbox reset".',
    })
  const list = (folder: string, recursive: boolean) =>
    sandbox.get<WireEntry[]>(withQuery(`/storages/${storage}`, { path: folder, recursive }))
  const entry = (await list(posix.dirname(path), false)).find((each) => each.path === path)
  if (entry === undefined)
    throw new UpshotError('not_found', `There is nothing at ${storage}:${path}.`, {
      fix: `List the parent folder: upshot sandbox storage ls ${storage}:${posix.dirname(path)}`,
    })
  const found = entry.type === 'file' ? [entry] : await list(path, true)
  return { entry, files: found.filter(({ type }) => type === 'file') }
}

interface SandboxPlace {
  storage: StorageName
  /** The path as written, with a leading slash. */
  path: string
}

/** Reads `<storage:/path>`, such as `storage_a:/in/report.pdf`. Default path `/`. */
export function parseSandboxPlace(text: string): SandboxPlace {
  const [, name = '', path = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? []
  const storage = STORAGES.find((known) => known === name.toLowerCase().replaceAll('-', '_'))
  if (storage !== undefined) return { storage, path: path.startsWith('/') ? path : `/${path}` }
  throw new InvalidArgumentError(`Give <storage:/path> with one of ${STORAGES.join(', ')}.`)
}
