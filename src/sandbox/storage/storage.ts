import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import type { StorageName } from '../../core/service/storage.ts'
import type { ChangeRecorder } from './change-recorder.ts'
import type { Entry } from './entry.ts'
import { fingerprintOf, statOrNull } from './fingerprint.ts'
import type { StorageFolder } from './storage-folders.ts'
import type { StorageIndex } from './storage-index.ts'
import { diskPath, isPassingPath, normalizePath, parentOf, refuseLinks } from './storage-path.ts'

/** One of the three storages: a directory, and what the service knows of it. */
export class Storage {
  readonly name: StorageName
  /** The directory, absolute. */
  readonly dir: string
  readonly folder: StorageFolder
  readonly #index: StorageIndex
  readonly #recorder: ChangeRecorder
  #rescan: () => Promise<void> = async () => {}

  constructor(name: StorageName, folder: StorageFolder, parts: { index: StorageIndex; recorder: ChangeRecorder }) {
    this.name = name
    this.dir = folder.dir
    this.folder = folder
    this.#index = parts.index
    this.#recorder = parts.recorder
  }

  /**
   * Writes a file, making the folders above it, and emits `file.created` if it is new before it
   * resolves.
   */
  async put(path: string, bytes: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<Entry> {
    const target = this.writablePath(path)
    const draft = this.draftPath()
    try {
      await writeFile(draft, bytes)
      return this.adopt(draft, target)
    } finally {
      rmSync(draft, { force: true })
    }
  }

  /** The bytes of a file. Throws `not_found`. */
  async read(path: string): Promise<Buffer> {
    return readFileSync(diskPath(this.dir, this.#existing(path, 'file').path))
  }

  /**
   * Deletes a file, or a folder with everything in it, for good; emits `file.deleted` for each
   * file. Throws `not_found`.
   */
  async remove(path: string): Promise<void> {
    this.removeEntry(this.#existing(path))
  }

  /** Everything in the storage, in order of path. */
  list(): Entry[] {
    return this.#index.beneath(this.name, '/')
  }

  /**
   * The entries of one folder, in order of path; everything beneath it where `recursive`. Throws
   * `not_found`.
   */
  listFolder(path: string, { recursive = false }: { recursive?: boolean } = {}): Entry[] {
    const folder = normalizePath(path)
    if (folder !== '/') this.#existing(path, 'folder')
    const beneath = this.#index.beneath(this.name, folder)
    return recursive ? beneath : beneath.filter(({ parent }) => parent === folder)
  }

  /**
   * Looks at the whole directory now instead of when a hint or the next scan says so. Resolves when
   * what has changed has been told, except files still being written.
   */
  async rescan(): Promise<void> {
    await this.#rescan()
  }

  /** Whom to ask for a {@link rescan}. */
  watchedBy(rescan: () => Promise<void>): void {
    this.#rescan = rescan
  }

  /** As {@link remove}, for what a look-up gave. */
  removeEntry(entry: Entry): void {
    refuseLinks(this.dir, parentOf(entry.path))
    // Disk and index change in one turn of the event loop: no hint can come in between and tell of
    // it a second time.
    rmSync(diskPath(this.dir, entry.path), { recursive: entry.type === 'folder', force: true })
    this.#recorder.missing(this.#place(entry.path))
  }

  /**
   * A path to write a file to, in normal form. Throws `invalid_request` for what could never become
   * an entry.
   */
  writablePath(path: string): string {
    const target = this.#freePath(path)
    if (target === '/') throw new UpshotError('invalid_request', 'A storage itself cannot hold the bytes of a file.')
    if (this.#typeAt(target) === 'folder') throw new UpshotError('conflict', `${target} is a folder.`)
    return target
  }

  /** A path for a folder, in normal form; one may be there. Throws like {@link writablePath}. */
  requireFolderPath(path: string): string {
    const target = this.#freePath(path)
    if (this.#typeAt(target) === 'file') throw new UpshotError('conflict', `${target} is a file, not a folder.`)
    return target
  }

  /** The folder at a path, made where it is missing with those above it. */
  makeFolder(path: string): Entry {
    const target = this.requireFolderPath(path)
    const place = diskPath(this.dir, target)
    mkdirSync(place, { recursive: true })
    const fingerprint = fingerprintOf(place)
    if (fingerprint?.type !== 'folder') throw new UpshotError('conflict', `${target} vanished while it was made.`)
    return this.#recorder.present(this.#place(target), fingerprint)
  }

  /** Whether there is something at a path on disk, told of or not. */
  isTaken(path: string): boolean {
    return statOrNull(diskPath(this.dir, normalizePath(path))) !== null
  }

  /** A place on the storage's own disk for a file that is not finished; no scan sees it. */
  draftPath(): string {
    return diskPath(this.dir, `/.draft-${randomWord()}`)
  }

  /** Moves a finished draft to its path and tells of it. */
  adopt(draft: string, target: string): Entry {
    const place = diskPath(this.dir, target)
    mkdirSync(diskPath(this.dir, parentOf(target)), { recursive: true })
    // As in removeEntry: one turn of the event loop.
    renameSync(draft, place)
    const fingerprint = fingerprintOf(place)
    if (!fingerprint) throw new UpshotError('conflict', `${target} vanished while it was written.`)
    return this.#recorder.present(this.#place(target), fingerprint)
  }

  /** Where an entry lies on this machine. Throws `invalid_request` when a link has come between. */
  locate(entry: Pick<Entry, 'path'>): string {
    refuseLinks(this.dir, entry.path)
    return diskPath(this.dir, entry.path)
  }

  #existing(path: string, type?: Entry['type']): Entry {
    const entry = this.#index.byPath(this.name, normalizePath(path))
    if (entry && (type === undefined || entry.type === type)) return entry
    throw new UpshotError('not_found', `There is no ${type ?? 'entry'} at ${path} in ${this.name}.`)
  }

  /**
   * Throws for a name that is left out, a link on the way, and a file where a folder would have to
   * be.
   */
  #freePath(path: string): string {
    const target = normalizePath(path)
    if (isPassingPath(target))
      throw new UpshotError('invalid_request', `${path} cannot be an entry: hidden and temporary names are left out.`)
    refuseLinks(this.dir, target)
    for (let above = parentOf(target); above !== '/'; above = parentOf(above))
      if (this.#typeAt(above) === 'file') throw new UpshotError('conflict', `${above} is a file, not a folder.`)
    return target
  }

  #typeAt(path: string): Entry['type'] | undefined {
    return this.#index.byPath(this.name, path)?.type
  }

  #place(path: string) {
    return { storage: this.name, root: this.dir, path }
  }
}
