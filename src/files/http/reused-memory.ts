/** The size of a buffer, which bounds one read from a socket. */
const BUFFER_BYTES = 256 * 1024

/** Buffers of one connection: some are read into while others wait to be copied. */
const MAX_BUFFERS = 8

/**
 * Memory that is read into again and again. A file of any size needs 2 MiB and leaves nothing to
 * collect.
 */
export class ReusedMemory {
  readonly #free: ArrayBufferLike[] = []
  #made = 0

  /** True when one buffer is left: Node still fills one after it was told to pause. */
  get isShort(): boolean {
    return this.#free.length + MAX_BUFFERS - this.#made <= 1
  }

  /** A buffer to read into. */
  take(): Uint8Array {
    const known = this.#free.pop()
    if (known !== undefined) return new Uint8Array(known)
    this.#made++
    return new Uint8Array(BUFFER_BYTES)
  }

  /** Takes the buffer of these bytes back. */
  release(bytes: Uint8Array): void {
    this.#free.push(bytes.buffer)
  }
}
