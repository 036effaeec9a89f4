import type { FileHandle } from 'node:fs/promises'

/** Bytes that may wait for the disk before whoever brings them has to wait. */
const MOST_WAITING_BYTES = 1024 * 1024

/** Every so many bytes the disk is told to catch up: what the last sync still finds to do is what a download waits for. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024

interface Waiting {
  bytes: Uint8Array
  written: () => void
}

/** Writes to the end of a file while more is being received. A failure shows at the next call. */
export class DiskWriter {
  readonly #handle: FileHandle
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #unsyncedBytes = 0
  #writing: Promise<void> | null = null
  #syncing: Promise<void> | null = null
  #failure: { error: unknown } | null = null

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Takes the bytes over until `written` is called; resolves as soon as more may come. */
  async write(bytes: Uint8Array, written: () => void = () => {}): Promise<void> {
    this.#throwFailure()
    this.#waiting.push({ bytes, written })
    this.#waitingBytes += bytes.byteLength
    // At once, however few they are: whoever brings them may have no memory for more until they are written.
    this.#startWriting()
    if (this.#waitingBytes > MOST_WAITING_BYTES) await this.drain()
  }

  /** Resolves when everything has been handed to the system. */
  async drain(): Promise<void> {
    await this.#writing
    this.#throwFailure()
  }

  /** Resolves when everything is on the disk. */
  async sync(): Promise<void> {
    await this.drain()
    await this.#syncing
    await this.#handle.sync()
    this.#throwFailure()
  }

  #startWriting(): void {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
    })
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting
        this.#waiting = []
        this.#waitingBytes = 0
        await this.#writeBatch(batch)
      }
    } catch (error) {
      this.#failure = { error }
    }
  }

  async #writeBatch(batch: Waiting[]): Promise<void> {
    const parts = batch.map((waiting) => waiting.bytes)
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0)
    const { bytesWritten } = await this.#handle.writev(parts)
    // A disk that is nearly full takes a part of it; the rest then fails with the reason.
    if (bytesWritten < bytes) await this.#handle.appendFile(Buffer.concat(parts).subarray(bytesWritten))
    for (const { written } of batch) written()
    this.#unsyncedBytes += bytes
    if (this.#unsyncedBytes >= SYNC_EVERY_BYTES) this.#syncAside()
  }

  #syncAside(): void {
    if (this.#syncing !== null) return
    this.#unsyncedBytes = 0
    this.#syncing = this.#handle
      .datasync()
      .catch((error: unknown) => {
        this.#failure = { error }
      })
      .finally(() => {
        this.#syncing = null
      })
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error
  }
}
