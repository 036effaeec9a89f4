import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { destination as openDestination } from 'pino'

/** Where log lines go. */
export interface LogStream {
  /** False where the line was dropped, because the reader is too far behind or gone. */
  write(text: string): boolean
  /** Resolves when every line is written, or after `withinMs`. */
  flush(withinMs: number): Promise<void>
}

/** Bytes that wait for the reader; lines beyond are dropped. */
const MAX_WAITING = 4_194_304

/**
 * The log on a file descriptor. Writing to a pipe never blocks the process; a file or a terminal
 * takes each line at once.
 */
export function openLogStream(fd = 1): LogStream {
  const stat = fstatSync(fd)
  if (stat.isFIFO() || stat.isSocket()) return boundStream(new Socket({ fd, readable: false, writable: true }))
  const file = openDestination({ fd, sync: true })
  return { write: (text) => file.write(text) || true, flush: () => Promise.resolve() }
}

/** A stream that keeps at most `maxWaiting` bytes for its reader. */
export function boundStream(stream: Writable, maxWaiting = MAX_WAITING): LogStream {
  let isLost = false
  // A reader that has gone away must not end the process.
  stream.on('error', () => {
    isLost = true
  })
  return {
    write(text) {
      if (isLost || stream.writableLength + text.length > maxWaiting) return false
      stream.write(text)
      return true
    },
    async flush(withinMs) {
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
