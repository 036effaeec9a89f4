import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { canAsk } from './confirm.ts'
import type { Output } from './output.ts'

/** Asks for a secret without echoing it; undefined if nobody can be asked. */
export async function askSecret(out: Output, what: string): Promise<string | undefined> {
  const { stdin, stderr } = out.streams
  if (!canAsk(out) || stdin === undefined) return undefined
  stderr.write(`${what} (not shown while you type): `)
  // `terminal: true` turns off the terminal's own echo; readline's echo goes to this sink.
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: sink, terminal: true })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', (line) => resolve(line.trim()))
      lines.once('SIGINT', () => reject(new DOMException('Interrupted.', 'AbortError')))
      lines.once('close', () => resolve(''))
    })
  } finally {
    lines.close()
    stderr.write('\n')
  }
}
