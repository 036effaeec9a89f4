import type { FileHandle } from 'node:fs/promises'
import type { PartHash } from './part-hash.ts'

/** Of so many parts; the oldest makes room, and is read again when it is continued. */
const MAX_KEPT = 1_000

/**
 * The hashes of parts that downloads of this process have left, so that the next one goes on
 * without reading them again. One that anybody has touched since is not known any more: its inode,
 * its size or one of its times is another.
 */
export class KeptHashes {
  readonly #kept = new Map<string, { hash: PartHash; state: string }>()

  /** The hash of everything in the file that is open here. */
  async keep(path: string, hash: PartHash, handle: FileHandle): Promise<void> {
    const state = await describeState(handle)
    await this.#forget(path)
    this.#kept.set(path, { hash, state })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) await this.#forget(oldest)
  }

  /**
   * Gives a hash away, to be continued; null where there is none, or the file is another one by
   * now.
   */
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
