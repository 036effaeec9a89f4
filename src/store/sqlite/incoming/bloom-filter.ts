/** Events to a block, which has one filter. */
export const BLOCK_ROWS = 65_536
/** Events to a segment of the index: few, so that a commit's new entries share few pages. */
export const SEGMENT_ROWS = 512

const BITS_PER_KEY = 24
const PROBES = 6
const LINE_WORDS = 16
const LINE_BITS = LINE_WORDS * 32

/**
 * A Bloom filter over event identities: no false negatives, 2 false positives in 10,000 when full.
 * All bits of a key are in one cache line of 64 bytes, so a lookup reads memory once.
 */
export class BloomFilter {
  readonly #words: Uint32Array
  readonly #lines: number

  constructor(rows: number, bytes?: Uint8Array) {
    this.#lines = Math.ceil((rows * BITS_PER_KEY) / LINE_BITS)
    this.#words = new Uint32Array(this.#lines * LINE_WORDS)
    if (bytes) new Uint8Array(this.#words.buffer).set(bytes)
  }

  add(identity: Buffer): void {
    const line = this.#findLine(identity)
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = probeBit(identity, probe)
      const at = line + (bit >>> 5)
      this.#words[at] = (this.#words[at] ?? 0) | (1 << (bit & 31))
    }
  }

  mayHold(identity: Buffer): boolean {
    const line = this.#findLine(identity)
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = probeBit(identity, probe)
      if ((((this.#words[line + (bit >>> 5)] ?? 0) >>> (bit & 31)) & 1) === 0) return false
    }
    return true
  }

  /** The bytes that the constructor accepts. */
  toBytes(): Buffer {
    return Buffer.from(this.#words.buffer)
  }

  #findLine(identity: Buffer): number {
    return (identity.readUInt32LE(0) % this.#lines) * LINE_WORDS
  }
}

/** An identity is random bytes: four choose the line, two more choose each bit in it. */
function probeBit(identity: Buffer, probe: number): number {
  return identity.readUInt16LE(4 + probe * 2) % LINE_BITS
}
