import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { canAsk } from './confirm.ts'
import type { Output } from './output.ts'

/**
 * Asks for something secret and shows nothing of what is typed; undefined where nobody can be
 * asked.
 */
export async function askSecret(out: Output, what: string): Promise<string | undefined> {
  const { stdin, stderr } = out.streams
  if (!canAsk(out) || stdin === undefined) return undefined
  stderr.write(`${what} (nothing is shown while you type): `)
  // A terminal's own echo is switched off by `terminal: true`, and what readline would echo goes
  // nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true })
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
