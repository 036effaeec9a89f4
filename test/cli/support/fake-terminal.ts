import { PassThrough } from 'node:stream'
import { createOutput, readGlobalOptions } from '../../../src/cli/terminal/output.ts'

/** Streams that a test types into and reads from, as a terminal unless `isTTY` is false. */
export function openTerminal(args: string[] = [], { isTTY = true } = {}) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  for (const stream of Object.values(streams)) Object.assign(stream, { isTTY })
  const raw: boolean[] = []
  Object.assign(streams.stdin, { setRawMode: (isRaw: boolean) => raw.push(isRaw) })
  const seen = { stdout: '', stderr: '' }
  let changed = Promise.withResolvers<void>()
  for (const name of ['stdout', 'stderr'] as const) {
    streams[name].on('data', (chunk) => {
      seen[name] += chunk
      changed.resolve()
    })
  }
  /** Waits until this text is on stderr. */
  const says = async (text: string) => {
    while (!seen.stderr.includes(text)) {
      changed = Promise.withResolvers()
      await changed.promise
    }
  }
  return { out: createOutput(readGlobalOptions(args), streams), streams, seen, raw, says }
}
