import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

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

/** Bound of the kept hashes. The oldest is dropped: its part is read again when it is continued. */
const MAX_KEPT = 1_000

/**
 * Hashes of parts that downloads of this process left, so that the next need not read them. A
 * changed inode, size or time drops a hash. See decision 26.
 */
export class KeptHashes {
  readonly #kept = new Map<string, { hash: PartHash; state: string }>()

  async keep(path: string, hash: PartHash, handle: FileHandle): Promise<void> {
    const state = await describeState(handle)
    await this.#forget(path)
    this.#kept.set(path, { hash, state })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) await this.#forget(oldest)
  }

  /** Removes a hash and resolves to it; null when there is none, or the file has changed. */
  async take(path: string, handle: FileHandle): Promise<PartHash | null> {
    const kept = this.#kept.get(path)
    if (kept === undefined || kept.state !== (await describeState(handle))) {
      await this.#forget(path)
      return null
    }
    this.#kept.delete(path)
    return kept.hash
  }

  async #forget(path: string): Promise<void> {
    const kept = this.#kept.get(path)
    this.#kept.delete(path)
    await kept?.hash.end()
  }
}

async function describeState(handle: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true })
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
}
