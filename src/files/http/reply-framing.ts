/** Bound of a response's head; an honest server sends far less. */
const MAX_HEAD_BYTES = 64 * 1024

export interface ResponseHead {
  status: number
  headers: Headers
  framing: Framing
}

/** How a body ends: after a length in bytes, after its chunks, or with the connection. */
type Framing = { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'close' }

/** Collects the bytes of a response until its head is complete. */
export class HeadReader {
  #bytes = Buffer.alloc(0)

  /**
   * The head, and how many of `bytes` belong to it; null until it is complete. Throws when it is
   * not HTTP/1.
   */
  read(bytes: Uint8Array): { head: ResponseHead; used: number } | null {
    const before = this.#bytes.byteLength
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    for (let from = 0; ; ) {
      const end = this.#bytes.indexOf('\r\n\r\n', from)
      if (end === -1 && this.#bytes.byteLength > MAX_HEAD_BYTES)
        throw new Error('the head of the response is too large')
      if (end === -1) return null
      const head = parseHead(this.#bytes.toString('latin1', from, end))
      if (head.status >= 200) return { head, used: end + 4 - before }
      // 100 and 103 only announce the response.
      from = end + 4
    }
  }
}

function parseHead(text: string): ResponseHead {
  // A line that begins with a space continues the one before (RFC 9112, section 5.2).
  const [first = '', ...lines] = text.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const [, digits] = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/.exec(first) ?? []
  if (digits === undefined || digits === '101') throw new Error('the response is not HTTP/1')
  const headers = new Headers()
  for (const line of lines) {
    const [, name, value] = /^([^\s:]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error('the response has a malformed header')
    headers.append(name, value)
  }
  return { status: Number(digits), headers, framing: decideFraming(Number(digits), headers) }
}

function decideFraming(status: number, headers: Headers): Framing {
  if (status === 204 || status === 304) return { kind: 'length', bytes: 0 }
  const coding = headers.get('transfer-encoding')
  const length = headers.get('content-length')
  if (coding !== null) {
    if (coding.toLowerCase() !== 'chunked') throw new Error('the response comes in an unknown transfer coding')
    // One of the two is wrong, and so is the end of the body (RFC 9112, section 6.3).
    if (length !== null) throw new Error('the response gives its length in two ways')
    return { kind: 'chunked' }
  }
  if (length === null) return { kind: 'close' }
  if (!/^\d{1,15}$/.test(length)) throw new Error('the response has a malformed length')
  return { kind: 'length', bytes: Number(length) }
}

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
