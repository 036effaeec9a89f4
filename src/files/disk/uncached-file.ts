import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { type Descriptors, writeAt } from './page-io.ts'

/**
 * Where writes go through the cache, the disk is told to catch up this often: a download waits for
 * what the last sync finds.
 */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024

/**
 * A large file that is written once and not read soon: where it can, it passes by the system's
 * cache. That saves a copy into pages that have to be found first, keeps what others have in the
 * cache, and leaves the last sync nothing to do.
 */
export class UncachedFile {
  readonly plain: FileHandle
  readonly descriptors: Descriptors
  readonly #direct: FileHandle | null
  #unsyncedBytes = 0
  #syncing: Promise<void> | null = null
  #failure: { error: unknown } | null = null

  private constructor(plain: FileHandle, direct: FileHandle | null) {
    this.plain = plain
    this.#direct = direct
    this.descriptors = { plain: plain.fd, direct: direct?.fd ?? null }
  }

  /** Opens a file for reading and writing; makes it where there is none. */
  static async open(path: string): Promise<UncachedFile> {
    const plain = await open(path, constants.O_RDWR | constants.O_CREAT, 0o666)
    return new UncachedFile(plain, await openDirect(path))
  }

  /** Writes all of the bytes, as {@link writeAt} does. */
  async write(bytes: Uint8Array, at: number): Promise<void> {
    if (this.#failure !== null) throw this.#failure.error
    // A disk that is nearly full takes a part; the rest then fails with the reason.
    for (let done = 0; done < bytes.byteLength; ) {
      done += await writeAt(this.descriptors, bytes.subarray(done), at + done)
    }
    if (this.descriptors.direct === null) this.#keepSynced(bytes.byteLength)
  }

  /** Resolves when everything is on the disk. */
  async sync(): Promise<void> {
    await this.#syncing
    await this.plain.sync()
    if (this.#failure !== null) throw this.#failure.error
  }

  async close(): Promise<void> {
    await this.#syncing
    await this.#direct?.close()
    await this.plain.close()
  }

  #keepSynced(writtenBytes: number): void {
    this.#unsyncedBytes += writtenBytes
    if (this.#unsyncedBytes < SYNC_EVERY_BYTES || this.#syncing !== null) return
    this.#unsyncedBytes = 0
    this.#syncing = this.plain
      .datasync()
      .catch((error: unknown) => {
        this.#failure = { error }
      })
      .finally(() => {
        this.#syncing = null
      })
  }
}

/** Null where the system knows no such way, or the file system refuses it. */
async function openDirect(path: string): Promise<FileHandle | null> {
  if (constants.O_DIRECT === undefined) return null
  return await open(path, constants.O_RDWR | constants.O_DIRECT).catch(() => null)
}
