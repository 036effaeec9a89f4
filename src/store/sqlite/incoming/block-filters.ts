type Bits = Uint8Array | Uint16Array | Uint32Array

/** Blocks whose bits are side by side. */
const GROUP_BLOCKS = 32

const BITS_PER_KEY = 24
/** At most 11: each takes its bits from the twelve last bytes of an identity. */
const PROBES = 10
/** All bits of a key are in one line, and so in few pages of memory. */
const LINE_BITS = 2_048

/**
 * A Bloom filter of event identities for each block of rows. Full blocks take 3 bytes a row, and
 * have 3 false positives in 100,000. The same bit of 32 filters is one number: a lookup in all of
 * them costs little more.
 */
export class BlockFilters {
  readonly #lines: number
  readonly #groups: Bits[] = []
  /** Where the bits of a key are, for the call at work. */
  readonly #places = new Uint32Array(PROBES)

  constructor(blockRows: number) {
    this.#lines = Math.ceil((blockRows * BITS_PER_KEY) / LINE_BITS)
  }

  add(block: number, identity: Buffer): void {
    const bits = this.#open(block)
    const mask = 1 << (block % GROUP_BLOCKS)
    const places = this.#locate(identity)
    for (let probe = 0; probe < PROBES; probe++) {
      const place = places[probe] ?? 0
      bits[place] = (bits[place] ?? 0) | mask
    }
  }

  /** The blocks that may hold it, newest first. */
  find(identity: Buffer): number[] {
    const places = this.#locate(identity)
    const blocks: number[] = []
    for (let group = this.#groups.length - 1; group >= 0; group--) {
      const bits = this.#groups[group] ?? NONE
      let found = -1
      // Without an exit, the processor reads all of them at once.
      for (let probe = 0; probe < PROBES; probe++) found &= bits[places[probe] ?? 0] ?? 0
      for (let bit = GROUP_BLOCKS - 1; found !== 0; bit--) {
        if (((found >>> bit) & 1) === 1) blocks.push(group * GROUP_BLOCKS + bit)
        found &= ~(1 << bit)
      }
    }
    return blocks
  }

  /** The bytes of a group, for `setGroup`. Later additions change them. */
  readGroup(group: number): Buffer {
    return Buffer.from((this.#groups[group] ?? NONE).buffer)
  }

  /** Replaces the filters of a group. */
  setGroup(group: number, bytes: Uint8Array): void {
    const size = this.#lines * LINE_BITS
    const bits = new (widthOf(bytes.length / size))(size)
    new Uint8Array(bits.buffer).set(bytes)
    this.#groups[group] = bits
  }

  /** A group begins with a byte for each bit of its filters, and gets wider as it fills. */
  #open(block: number): Bits {
    const group = groupOf(block)
    const bits = this.#groups[group] ?? new Uint8Array(this.#lines * LINE_BITS)
    const bytes = Math.ceil(((block % GROUP_BLOCKS) + 1) / 8)
    const wide = bytes > bits.BYTES_PER_ELEMENT ? new (widthOf(bytes))(bits) : bits
    if (wide !== this.#groups[group]) this.#groups[group] = wide
    return wide
  }

  /** An identity is random bytes: four choose the line, and two each bit in it. */
  #locate(identity: Buffer): Uint32Array {
    const line = (identity.readUInt32LE(0) % this.#lines) * LINE_BITS
    for (let probe = 0; probe < PROBES; probe++)
      this.#places[probe] = line + (identity.readUInt16LE(4 + probe) % LINE_BITS)
    return this.#places
  }
}

const NONE = new Uint8Array()

function widthOf(bytes: number) {
  return bytes === 1 ? Uint8Array : bytes === 2 ? Uint16Array : Uint32Array
}

/** The number of the group that a block is in. */
export function groupOf(block: number): number {
  return Math.floor(block / GROUP_BLOCKS)
}
