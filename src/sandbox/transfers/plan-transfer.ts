import { basename } from 'node:path'
import { z } from 'zod'
import { UpshotError } from '../../core/errors.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import type { Entry } from '../storage/entry.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageIndex } from '../storage/storage-index.ts'
import { normalizePath } from '../storage/storage-path.ts'

const end = z.tuple([z.enum(STORAGES), z.string().min(1)])

export const transferInput = z.strictObject({
  /** Storage and path of a file or a folder. A whole storage (`/`) gets no folder of its own. */
  from: end,
  /** Storage and path. A folder, or a path ending in `/`, keeps the source's name inside it. */
  to: end,
  /** `replace` or `keep` files that exist at the destination. Default `replace`. */
  existing: z.enum(['replace', 'keep']).default('replace'),
  /** The share of bytes, 0 to 1, after which the transfer fails. Default null: it does not fail. */
  failAt: z.number().min(0).max(1).nullable().default(null),
})
/** The options of a new transfer. */
export type TransferInput = z.input<typeof transferInput>

/** A file or folder to copy. */
export interface TransferStep {
  type: Entry['type']
  from: string
  /** Path in the destination storage. */
  to: string
  /** Size in bytes; 0 for a folder. */
  bytes: number
}

export interface TransferPlan {
  type: Entry['type']
  source: { service: StorageName; path: string; fileId: string | null }
  destination: { service: StorageName; path: string }
  /** Every folder comes before its contents. */
  steps: TransferStep[]
  filesTotal: number
  bytesTotal: number
}

/**
 * Plans from the index as it is now; later files are not included. Throws `not_found`, `conflict`
 * or `invalid_request`.
 */
export function planTransfer(
  input: Pick<z.output<typeof transferInput>, 'from' | 'to'>,
  parts: { index: StorageIndex; storages: Record<StorageName, Storage> },
): TransferPlan {
  const source = findSource(parts.index, input.from)
  const [service] = input.to
  const path = findDestination(parts.index, input.to, source)
  refuseOverlap(source, { service, path })
  const target = parts.storages[service]
  if (source.type === 'file') target.writablePath(path)
  else target.requireFolderPath(path)
  const steps = stepsOf(parts.index, source, path)
  return {
    type: source.type,
    source: { service: source.storage, path: source.path, fileId: source.entry?.id ?? null },
    destination: { service, path },
    steps,
    filesTotal: steps.filter(({ type }) => type === 'file').length,
    bytesTotal: steps.reduce((sum, step) => sum + step.bytes, 0),
  }
}

/** `entry` is null for a whole storage. */
interface Source {
  storage: StorageName
  path: string
  type: Entry['type']
  entry: Entry | null
}

function findSource(index: StorageIndex, [storage, given]: [StorageName, string]): Source {
  const path = normalizePath(given)
  if (path === '/') return { storage, path, type: 'folder', entry: null }
  const entry = index.byPath(storage, path)
  if (entry) return { storage, path, type: entry.type, entry }
  throw new UpshotError('not_found', `There is nothing at ${given} in ${storage} to transfer.`)
}

function findDestination(index: StorageIndex, [storage, given]: [StorageName, string], source: Source): string {
  const target = normalizePath(given)
  const isFolder = target === '/' || given.endsWith('/') || index.byPath(storage, target)?.type === 'folder'
  return isFolder && source.path !== '/' ? normalizePath(`${target}/${basename(source.path)}`) : target
}

function refuseOverlap(source: Source, destination: TransferPlan['destination']): void {
  if (source.storage !== destination.service) return
  if (source.path === destination.path)
    throw new UpshotError('invalid_request', `${source.path} cannot be transferred onto itself.`)
  const inside = source.path === '/' ? '/' : `${source.path}/`
  if (source.type === 'folder' && destination.path.startsWith(inside))
    throw new UpshotError('invalid_request', `${source.path} cannot be transferred into itself.`)
}

function stepsOf(index: StorageIndex, source: Source, to: string): TransferStep[] {
  const first: TransferStep = { type: source.type, from: source.path, to, bytes: source.entry?.size ?? 0 }
  if (source.type === 'file') return [first]
  const beneath = index.beneath(source.storage, source.path).map(({ type, path, size }): TransferStep => {
    return { type, from: path, to: normalizePath(`${to}/${path.slice(source.path.length)}`), bytes: size ?? 0 }
  })
  return to === '/' ? beneath : [first, ...beneath]
}
