import { createInterface } from 'node:readline/promises'
import type { Output } from './output.ts'

/** True where a person at the terminal types the number of things, or "yes" where there is none. */
export async function typesCount({ streams: { stdin, stderr } }: Output, count: number): Promise<boolean> {
  if (stdin === undefined) return false
  const lines = createInterface({ input: stdin, output: stderr })
  try {
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    const question = `Type ${count === 0 ? '"yes"' : 'the number of items'} to go on: `
    const answer = await Promise.race([lines.question(question), closed])
    return answer.trim() === (count === 0 ? 'yes' : String(count))
  } finally {
    lines.close()
  }
}
