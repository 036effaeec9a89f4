import { createHash } from 'node:crypto'

/** The SHA-256 of a file that grows at its end. */
export interface PartHash {
  /** Adds appended bytes. Resolves when the caller may reuse their memory. */
  update(bytes: Uint8Array): Promise<void>
  /** Resolves to the hash of all bytes, and ends it. */
  digest(): Promise<string>
  end(): Promise<void>
}

/** Hashes bytes in this thread as they are appended. */
export class PassingHash implements PartHash {
  readonly #hash = createHash('sha256')

  async update(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes)
  }

  async digest(): Promise<string> {
    return this.#hash.digest('hex')
  }

  async end(): Promise<void> {}
}
