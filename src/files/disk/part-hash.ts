import { createHash } from 'node:crypto'

/** The SHA-256 of a file that is being written at its end. */
export interface PartHash {
  /** Takes in bytes that are appended; resolves when their memory may be used for others. */
  update(bytes: Uint8Array): Promise<void>
  /** So many bytes from the beginning can be read from the file by now. */
  reach(bytes: number): void
  /**
   * The hash of the first `bytes` bytes, all of which were taken in and reached. It ends with that.
   */
  digest(bytes: number): Promise<string>
  /**
   * Whether it knows the first `bytes` bytes and can be continued from there without the file.
   * Otherwise it has ended.
   */
  settle(bytes: number): Promise<boolean>
  /** Ends whatever is still going on. */
  end(): Promise<void>
}

/** Hashes bytes as they pass by. */
export class PassingHash implements PartHash {
  readonly #hash = createHash('sha256')
  #hasEnded = false

  async update(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes)
  }

  reach(): void {}

  async digest(): Promise<string> {
    this.#hasEnded = true
    return this.#hash.digest('hex')
  }

  async settle(): Promise<boolean> {
    return !this.#hasEnded
  }

  async end(): Promise<void> {}
}
