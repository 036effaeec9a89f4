import type { LogStream } from '../../src/notices/log/log-stream.ts'

/** A log that keeps its lines in `lines`. */
export function collectLog(lines: string[]): LogStream {
  return {
    write(text) {
      lines.push(text)
      return true
    },
    flush: () => Promise.resolve(),
  }
}
