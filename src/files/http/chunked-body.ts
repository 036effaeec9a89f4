const LF = 10
/** The longest line between two chunks, in characters. */
const MAX_LINE_CHARACTERS = 4_096

/** Removes the chunk framing from a body in chunked transfer coding (RFC 9112, section 7.1). */
export class ChunkedBody {
  #state: 'size' | 'data' | 'gap' | 'trailer' | 'end' = 'size'
  #left = 0
  #line = ''

  /** True after the last chunk and its trailer. */
  get isComplete(): boolean {
    return this.#state === 'end'
  }

  /**
   * Moves the content of `bytes` to their front; returns its length. Throws for invalid framing.
   */
  compact(bytes: Uint8Array): number {
    let kept = 0
    for (let at = 0; at < bytes.byteLength && this.#state !== 'end'; ) {
      if (this.#state !== 'data') {
        this.#readFraming(bytes[at++] ?? LF)
        continue
      }
      const count = Math.min(this.#left, bytes.byteLength - at)
      bytes.copyWithin(kept, at, at + count)
      kept += count
      at += count
      this.#left -= count
      if (this.#left === 0) this.#state = 'gap'
    }
    return kept
  }

  #readFraming(byte: number): void {
    if (byte === LF) this.#endLine(this.#line.replace(/\r$/, ''))
    else this.#line += String.fromCharCode(byte)
    if (this.#line.length > MAX_LINE_CHARACTERS) throw new Error('a line between the chunks of the body is too long')
  }

  #endLine(line: string): void {
    this.#line = ''
    if (this.#state === 'trailer') {
      if (line === '') this.#state = 'end'
      return
    }
    if (this.#state === 'gap' && line === '') {
      this.#state = 'size'
      return
    }
    const [, digits] = /^([0-9a-f]{1,12})[ \t]*(?:;[^\r]*)?$/i.exec(this.#state === 'size' ? line : '') ?? []
    if (digits === undefined) throw new Error('a line between the chunks of the body is invalid')
    this.#left = Number.parseInt(digits, 16)
    this.#state = this.#left === 0 ? 'trailer' : 'data'
  }
}
