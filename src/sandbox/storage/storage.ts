import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { StorageName } from '../../core/service/storage.ts'
import type { ChangeRecorder, Given } from './change-recorder.ts'
import type { Entry } from './entry.ts'
import { findReadFault, fingerprintOf, statOrNull } from './fingerprint.ts'
import type { StorageFolder } from './storage-folders.ts'
import type { StorageIndex } from './storage-index.ts'
import { isIgnoredPath, normalizePath, refuseLinks } from './storage-path.ts'

/** How a file is put. All but `size` and `silent` count for a new file only. */
export interface PutOptions extends Given {
  /**
   * Bytes of the file: what follows the given ones is zeros, which take no room on most disks. No
   * less than those given. Default: the given ones.
   */
  size?: number
  /** No event tells of it, as of files from before a storage was connected. Default false. */
  silent?: boolean
}

/** A storage: its directory, and its part of the index. */
export class Storage {
  readonly name: StorageName
  /** Absolute path of the directory. */
  readonly dir: string
  readonly folder: StorageFolder
  /** Tells the directory from another one in its place, such as an empty mount point. */
  readonly #identity: string | undefined
  readonly #index: StorageIndex
  readonly #recorder: ChangeRecorder
  #rescan: () => Promise<void> = async () => {}

  constructor(name: StorageName, folder: StorageFolder, parts: { index: StorageIndex; recorder: ChangeRecorder }) {
    this.name = name
    this.dir = folder.dir
    this.folder = folder
    this.#identity = fingerprintOf(folder.dir)?.identity
    this.#index = parts.index
    this.#recorder = parts.recorder
  }

  /**
   * Writes a file and the folders above it. A new file's `file.created` is saved before it
   * resolves. Throws `conflict` where another entry has the id, or the file another one.
   *
   * @param options
   */
  async put(
    path: string,
    bytes: string | Uint8Array | AsyncIterable<Uint8Array>,
    { size, ...options }: PutOptions = {},
  ): Promise<Entry> {
    const target = this.writablePath(path)
    const draft = this.draftPath()
    try {
      await writeFile(draft, bytes)
      if (size !== undefined) await extend(draft, size)
      this.#requireFree(target, options.id)
      return this.adopt(draft, target, options)
    } finally {
      rmSync(draft, { force: true })
    }
  }

  /**
   * The error that hides a path, such as `EACCES`; null where the disk tells. `replaced`: the
   * directory is another one than the sandbox opened.
   */
  findFault(path: string): string | null {
    const isOurs = () => fingerprintOf(this.dir)?.identity === this.#identity
    return findReadFault(this.dir, join(this.dir, path)) ?? (isOurs() ? null : 'replaced')
  }

  /** The bytes of a file. Throws `not_found`. */
  async read(path: string): Promise<Buffer> {
    return readFileSync(join(this.dir, this.#existing(path, 'file').path))
  }

  /**
   * Deletes a file or a folder with everything in it; emits `file.deleted` for each file. Throws
   * `not_found`.
   */
  async remove(path: string): Promise<void> {
    this.removeEntry(this.#existing(path))
  }

  /** Every entry, in order of path. */
  list(): Entry[] {
    return this.#index.beneath(this.name, '/')
  }

  /**
   * The entries of a folder, in order of path; with `recursive` everything beneath it. Throws
   * `not_found`.
   *
   * @param options
   */
  listFolder(path: string, { recursive = false }: { recursive?: boolean } = {}): Entry[] {
    const folder = normalizePath(path)
    if (folder !== '/') this.#existing(path, 'folder')
    const beneath = this.#index.beneath(this.name, folder)
    return recursive ? beneath : beneath.filter(({ parent }) => parent === folder)
  }

  /**
   * Scans the directory now. Resolves when changes are recorded, except of files still being
   * written.
   */
  async rescan(): Promise<void> {
    await this.#rescan()
  }

  /** Sets the function behind `rescan`. */
  rescanWith(rescan: () => Promise<void>): void {
    this.#rescan = rescan
  }

  /** Like `remove`, for an entry of the index. */
  removeEntry(entry: Entry): void {
    this.#requireReadable(entry.path)
    refuseLinks(this.dir, dirname(entry.path))
    // Disk and index change in one turn of the event loop, before any hint of the change arrives.
    rmSync(join(this.dir, entry.path), { recursive: entry.type === 'folder', force: true })
    this.#recorder.missing(this.#place(entry.path))
  }

  /**
   * The normalized path for a file to write. Throws `invalid_request` or `conflict` if it cannot
   * become one.
   */
  writablePath(path: string): string {
    const target = this.#freePath(path)
    if (target === '/') throw new UpshotError('invalid_request', 'The root of a storage cannot be a file.')
    if (this.#typeAt(target) === 'folder') throw new UpshotError('conflict', `${target} is a folder.`)
    return target
  }

  /** The normalized path for a new or existing folder. Throws like `writablePath`. */
  requireFolderPath(path: string): string {
    const target = this.#freePath(path)
    if (this.#typeAt(target) === 'file') throw new UpshotError('conflict', `${target} is a file, not a folder.`)
    return target
  }

  /**
   * Creates a folder and those above it, as far as they are missing.
   *
   * @param given
   */
  makeFolder(path: string, given: Given = {}): Entry {
    const target = this.requireFolderPath(path)
    this.#requireFree(target, given.id)
    const place = join(this.dir, target)
    mkdirSync(place, { recursive: true })
    const fingerprint = fingerprintOf(place)
    if (fingerprint?.type !== 'folder') throw new UpshotError('conflict', `${target} vanished while it was created.`)
    return this.#recorder.present(this.#place(target), fingerprint, given)
  }

  /** Whether there is anything at a path on disk, recorded or not. */
  isTaken(path: string): boolean {
    return statOrNull(join(this.dir, normalizePath(path))) !== null
  }

  /** A path for an unfinished file on the storage's own disk. Scans ignore it. */
  draftPath(): string {
    return join(this.dir, `/.draft-${randomWord()}`)
  }

  /** Moves a finished draft to its path and records it. */
  adopt(draft: string, target: string, { silent = false, ...given }: Omit<PutOptions, 'size'> = {}): Entry {
    const place = join(this.dir, target)
    mkdirSync(join(this.dir, dirname(target)), { recursive: true })
    // In one turn of the event loop, as in removeEntry.
    renameSync(draft, place)
    const fingerprint = fingerprintOf(place)
    if (!fingerprint) throw new UpshotError('conflict', `${target} vanished while it was written.`)
    return this.#recorder.present({ ...this.#place(target), silent }, fingerprint, given)
  }

  /**
   * The path of an entry on this machine. Throws `invalid_request` if it leads through a link, and
   * `store_unavailable` where the disk does not tell.
   */
  locate(entry: Pick<Entry, 'path'>): string {
    this.#requireReadable(entry.path)
    refuseLinks(this.dir, entry.path)
    return join(this.dir, entry.path)
  }

  /** A file that the disk does not show is not taken for deleted. */
  #requireReadable(path: string): void {
    const fault = this.findFault(path)
    if (fault === null) return
    throw new UpshotError(
      'store_unavailable',
      `The directory of ${this.name} cannot be read (${fault}). Put it back, then try again.`,
    )
  }

  #existing(path: string, type?: Entry['type']): Entry {
    const entry = this.#index.byPath(this.name, normalizePath(path))
    if (entry && (type === undefined || entry.type === type)) return entry
    throw new UpshotError('not_found', `There is no ${type ?? 'entry'} at ${path} in ${this.name}.`)
  }

  /** The normalized path. Throws for an ignored name, a link, or a file in place of a folder. */
  #freePath(path: string): string {
    const target = normalizePath(path)
    if (isIgnoredPath(target))
      throw new UpshotError(
        'invalid_request',
        `${path} cannot be an entry: a storage ignores hidden and temporary names.`,
      )
    refuseLinks(this.dir, target)
    this.#requireReadable('/')
    for (let above = dirname(target); above !== '/'; above = dirname(above))
      if (this.#typeAt(above) === 'file') throw new UpshotError('conflict', `${above} is a file, not a folder.`)
    return target
  }

  #requireFree(path: string, id: string | undefined): void {
    if (id === undefined) return
    const [there, holder] = [this.#index.byPath(this.name, path), this.#index.byId(this.name, id)]
    if (holder !== undefined && holder.path !== path)
      throw new UpshotError('conflict', `The id ${id} is that of ${holder.path} in ${this.name}.`)
    if (there !== undefined && there.id !== id)
      throw new UpshotError('conflict', `${path} in ${this.name} has the id ${there.id}, and keeps it.`)
  }

  #typeAt(path: string): Entry['type'] | undefined {
    return this.#index.byPath(this.name, path)?.type
  }

  #place(path: string) {
    return { storage: this.name, root: this.dir, path }
  }
}

/** Adds zeros up to `size` bytes. Throws `invalid_request` where the file is longer. */
async function extend(file: string, size: number): Promise<void> {
  const { size: written = 0n } = statOrNull(file) ?? {}
  if (!Number.isSafeInteger(size) || BigInt(size) < written)
    throw new UpshotError('invalid_request', `size: ${size} is less than the ${written} bytes that were given.`)
  await truncate(file, size)
}
