import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { StorageName } from '../../core/service/storage.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { NamedFile } from './gather-files.ts'

/** Files and folders that are put; those after them are counted. */
const MAX_FILES = 2_000
/** Longer files are cut, so that a download fills no disk. */
export const MAX_BYTES = 1_073_741_824
/** Bytes that are made up; zeros follow, which take no room. */
const MADE_UP = 65_536
/** Bytes of a file whose size nobody told. */
const UNKNOWN_BYTES = 1_024

export interface StagedFile {
  storage: StorageName
  id: string
  path: string
  type: 'file' | 'folder'
  /** Null for a folder. */
  bytes: number | null
  /** The parts that nobody told, or that are otherwise than told. */
  madeUp: ('id' | 'path' | 'size')[]
}

interface Staged {
  files: StagedFile[]
  /** Named files that are not there, with the reason. */
  left: { storage: StorageName; path: string; reason: string }[]
}

/** Puts files into a sandbox, without events: they are there before the event comes. */
export async function stageFiles(sandbox: Pick<Sandbox, 'storage'>, named: readonly NamedFile[]): Promise<Staged> {
  const staged: Staged = { files: [], left: [] }
  // Folders first, upper before lower: a file would make those above it, under new ids.
  const depth = ({ path, type }: NamedFile) => (type === 'folder' ? (path ?? '').split('/').length : 1_000)
  for (const file of named.toSorted((one, other) => depth(one) - depth(other))) {
    const path = file.path ?? `/named-by-id/${createHash('sha256').update(`${file.id}`).digest('hex').slice(0, 12)}`
    try {
      if (staged.files.length >= MAX_FILES) throw new Error(`only the first ${MAX_FILES} are put`)
      staged.files.push(await putFile(sandbox, file, path))
    } catch (error) {
      staged.left.push({ storage: file.storage, path, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return staged
}

async function putFile(sandbox: Pick<Sandbox, 'storage'>, file: NamedFile, path: string): Promise<StagedFile> {
  const { createdAt, modifiedAt } = file
  const storage = sandbox.storage(file.storage)
  const given = {
    ...(file.id === null ? {} : { id: file.id }),
    ...(createdAt === null ? {} : { createdAt }),
    ...(modifiedAt === null ? {} : { modifiedAt }),
  }
  const own = file.from === undefined ? null : await readFile(file.from)
  const size = own?.length ?? Math.min(file.size ?? UNKNOWN_BYTES, MAX_BYTES)
  const entry =
    file.type === 'folder'
      ? storage.makeFolder(path, given)
      : await storage.put(path, own ?? makeUpBytes(file, path, Math.min(size, MADE_UP)), {
          ...given,
          size,
          silent: true,
        })
  const parts = { id: file.id === null, path: file.path === null, size: entry.type === 'file' && file.size !== size }
  const madeUp = (['id', 'path', 'size'] as const).filter((part) => parts[part])
  return { storage: file.storage, id: entry.id, path: entry.path, type: entry.type, bytes: entry.size, madeUp }
}

/**
 * Equal for files that were equal: of one hash, or where none is known of one name and size. So a
 * copy has the bytes of its source.
 */
function makeUpBytes({ sha256, size }: NamedFile, path: string, length: number): Uint8Array {
  const seed = sha256 ?? `${path.slice(path.lastIndexOf('/') + 1)} ${size}`
  const chunks: Buffer[] = []
  for (let number = 0; number * 64 < length; number++) {
    chunks.push(createHash('sha512').update(`${seed} ${number}`).digest())
  }
  return Buffer.concat(chunks).subarray(0, length)
}
