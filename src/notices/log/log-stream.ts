import { fstatSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'

/** Where log lines go. */
export interface LogStream {
  /**
   * False where the line was dropped, because the reader is too far behind or gone. The lines of a
   * turn are written together at its end, or with the first `isUrgent` one.
   */
  write(text: string, isUrgent?: boolean): boolean
  /** Resolves when every line is written, or after `withinMs`. */
  flush(withinMs: number): Promise<void>
}

/** Bytes that wait for the reader; lines beyond are dropped. */
const MAX_WAITING = 4_194_304

/** The log on a file descriptor. Writing to a pipe never blocks the process. */
export function openLogStream(fd = 1): LogStream {
  const stat = fstatSync(fd)
  const isStream = stat.isFIFO() || stat.isSocket()
  return boundStream(isStream ? new Socket({ fd, readable: false, writable: true }) : fileStream(fd))
}

/** Time until a write that failed is tried again. */
const RETRY_MS = 1_000

/** Writes to a file or terminal at once. A disk that is full may have room again later. */
function fileStream(fd: number): Writable {
  const writeAll = (bytes: Buffer, done: () => void) => {
    let left = bytes
    try {
      while (left.length > 0) left = left.subarray(writeSync(fd, left))
      done()
    } catch {
      setTimeout(() => writeAll(left, done), RETRY_MS).unref()
    }
  }
  return new Writable({ write: (chunk: Buffer, _encoding, done) => writeAll(chunk, done) })
}

/** A stream that keeps at most `maxWaiting` bytes for its reader. */
export function boundStream(stream: Writable, maxWaiting = MAX_WAITING): LogStream {
  let isLost = false
  const lines = new TurnLines((text) => stream.write(text))
  // A reader that has gone away must not end the process.
  stream.on('error', () => {
    isLost = true
  })
  return {
    write(text, isUrgent = false) {
      if (isLost || stream.writableLength + lines.length + text.length > maxWaiting) return false
      lines.add(text, isUrgent)
      return true
    },
    async flush(withinMs) {
      lines.write()
      if (isLost || stream.writableLength === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, withinMs)
      stream.write('', () => resolve())
      stream.once('error', () => resolve())
      await promise
      clearTimeout(timer)
    },
  }
}

/** The lines of a turn. A write costs more than ten of them. */
class TurnLines {
  readonly #write: (text: string) => void
  #text = ''

  constructor(write: (text: string) => void) {
    this.#write = write
    process.once('exit', () => this.write())
  }

  get length(): number {
    return this.#text.length
  }

  add(line: string, isUrgent: boolean): void {
    if (this.#text === '' && !isUrgent) setImmediate(() => this.write())
    this.#text += line
    if (isUrgent) this.write()
  }

  write(): void {
    const text = this.#text
    this.#text = ''
    if (text !== '') this.#write(text)
  }
}
