/** Memory of a session is kept up to this size. Room for 200 deliveries of 1 KB. */
const KEPT_BYTES = 256 * 1_024
const FIRST_BYTES = 16 * 1_024
/** Most bytes that UTF-8 takes for a unit of a string. */
const BYTES_OF_UNIT = 3

/**
 * Memory in which messages are written, one after the other. Fresh memory for each lies
 * outside of V8's heap, and has it collect the whole heap several times a second.
 */
export class MessageBuffer {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #end = 0
  #isFree = true

  /** Bytes written so far. */
  get length(): number {
    return this.#end
  }

  begin(): void {
    if (!this.#isFree || this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.#isFree = false
    this.#end = 0
  }

  /** The message. Its memory is left to it until it is given to `free`. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#end)
  }

  /** Has the next message written over one that was received, as its answer tells. */
  free(message: Buffer): void {
    if (message.buffer === this.#bytes.buffer) this.#isFree = true
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#bytes.set(value, this.#end)
    this.#end += value.length
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#end++] = value
  }

  int16(value: number): void {
    this.#reserve(2)
    this.#end = this.#bytes.writeInt16BE(value, this.#end)
  }

  int32(value: number): void {
    this.#reserve(4)
    this.#end = this.#bytes.writeInt32BE(value, this.#end)
  }

  /** Writes over four bytes that are there. */
  int32At(at: number, value: number): void {
    this.#bytes.writeInt32BE(value, at)
  }

  /** A safe integer in eight bytes. */
  bigint(value: number): void {
    this.#reserve(8)
    this.#end = this.#bytes.writeInt32BE(Math.floor(value / 2 ** 32), this.#end)
    this.#end = this.#bytes.writeUInt32BE(value >>> 0, this.#end)
  }

  /** The UTF-8 of a text. PostgreSQL's text cannot hold the character 0. */
  text(value: string): void {
    const clean = value.includes('\0') ? value.replaceAll('\0', '\u{fffd}') : value
    this.#reserve(clean.length * BYTES_OF_UNIT)
    this.#end += this.#bytes.write(clean, this.#end)
  }

  /** Hexadecimal digits, two a byte. */
  digits(value: string): void {
    this.#reserve(value.length / 2)
    this.#end += this.#bytes.write(value, this.#end, 'hex')
  }

  #reserve(size: number): void {
    const needed = this.#end + size
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}
