/** Rows to an era: one filter each. */
export const ERA_ROWS = 65_536
/**
 * Rows to a stretch of the index: so few that a commit's new entries fall into a handful of pages.
 */
export const STRETCH_ROWS = 512

const BITS_PER_KEY = 24
const PROBES = 6
const BLOCK_WORDS = 16
const BLOCK_BITS = BLOCK_WORDS * 32

/**
 * A Bloom filter over the identities of one era: it never denies one that is in it, and takes one
 * in thousands for known that is not. All bits of a key lie in one block of 64 bytes, so that a
 * question costs one memory access.
 */
export class BloomFilter {
  readonly #words: Uint32Array
  readonly #blocks: number

  constructor(rows: number, bytes?: Uint8Array) {
    this.#blocks = Math.ceil((rows * BITS_PER_KEY) / BLOCK_BITS)
    this.#words = new Uint32Array(this.#blocks * BLOCK_WORDS)
    if (bytes) new Uint8Array(this.#words.buffer).set(bytes)
  }

  add(identity: Buffer): void {
    const block = this.#blockOf(identity)
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = probeBit(identity, probe)
      const at = block + (bit >>> 5)
      this.#words[at] = (this.#words[at] ?? 0) | (1 << (bit & 31))
    }
  }

  mayHold(identity: Buffer): boolean {
    const block = this.#blockOf(identity)
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = probeBit(identity, probe)
      if ((((this.#words[block + (bit >>> 5)] ?? 0) >>> (bit & 31)) & 1) === 0) return false
    }
    return true
  }

  /** For a row of the table; the constructor takes it back. */
  toBytes(): Buffer {
    return Buffer.from(this.#words.buffer)
  }

  #blockOf(identity: Buffer): number {
    return (identity.readUInt32LE(0) % this.#blocks) * BLOCK_WORDS
  }
}

/**
 * An identity is random bytes already: two of them, behind the four that choose the block, make a
 * bit.
 */
function probeBit(identity: Buffer, probe: number): number {
  return identity.readUInt16LE(4 + probe * 2) % BLOCK_BITS
}
