/** One read from a socket fills at most this much. */
const SLOT_BYTES = 256 * 1024

/** Slots of one connection: enough to go on reading while some wait to be copied. */
const MAX_SLOTS = 8

/**
 * Memory that is read into again and again: a file of any size takes two megabytes, and nothing is
 * left to collect.
 */
export class ReusedMemory {
  readonly #free: ArrayBufferLike[] = []
  #made = 0

  /** True when the last slot is left: Node takes that one even though it was told to pause. */
  get isShort(): boolean {
    return this.#free.length + MAX_SLOTS - this.#made <= 1
  }

  /** A slot to read into. */
  take(): Uint8Array {
    const known = this.#free.pop()
    if (known !== undefined) return new Uint8Array(known)
    this.#made++
    return new Uint8Array(SLOT_BYTES)
  }

  /** Gives back the slot that holds these bytes. */
  release(bytes: Uint8Array): void {
    this.#free.push(bytes.buffer)
  }
}
