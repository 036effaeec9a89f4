import { createHash } from 'node:crypto'

/** The SHA-256 of a file that grows at its end. */
export interface PartHash {
  /** Adds appended bytes. Resolves when the caller may reuse their memory. */
  update(bytes: Uint8Array): Promise<void>
  /** Tells that the file's first `bytes` bytes can be read from it. */
  reach(bytes: number): void
  /**
   * Resolves to the hash of the first `bytes` bytes, which must all be added and readable. Ends
   * this hash.
   */
  digest(bytes: number): Promise<string>
  /**
   * True when this hash covers the first `bytes` bytes and needs no file to continue. If false, it
   * has ended.
   */
  settle(bytes: number): Promise<boolean>
  /** Stops all work of this hash. */
  end(): Promise<void>
}

/** Hashes bytes in this thread as they are appended. */
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
