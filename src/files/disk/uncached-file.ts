import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { type Descriptors, writeAt } from './page-io.ts'

/** A file in the system's cache is synced after so many bytes, so that the last sync is short. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024

/**
 * A file that bypasses the system's cache where that is possible. It is written once and not read
 * soon. See decision 25.
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

  /** Opens a file for reading and writing; creates it if there is none, or only then: `isNew`. */
  static async open(path: string, { isNew = false } = {}): Promise<UncachedFile> {
    const plain = await open(path, constants.O_RDWR | constants.O_CREAT | (isNew ? constants.O_EXCL : 0), 0o666)
    return new UncachedFile(plain, await openDirect(path))
  }

  /** Writes all bytes. Their offset within a page is the same in memory and file. */
  async write(bytes: Uint8Array, at: number): Promise<void> {
    if (this.#failure !== null) throw this.#failure.error
    // A nearly full disk writes a part of the bytes; the next write then fails with the reason.
    for (let done = 0; done < bytes.byteLength; ) {
      done += await writeAt(this.descriptors, bytes.subarray(done), at + done)
    }
    if (this.descriptors.direct === null) this.#keepSynced(bytes.byteLength)
  }

  /** Resolves when every byte is on the disk. */
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

/** Null where the system or the file system has no direct access. */
async function openDirect(path: string): Promise<FileHandle | null> {
  if (constants.O_DIRECT === undefined) return null
  return await open(path, constants.O_RDWR | constants.O_DIRECT).catch(() => null)
}
