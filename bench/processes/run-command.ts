import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { CLONE } from './built-package.ts'
import { adopt } from './child.ts'

/** When a command printed its first line, and when it ended, in milliseconds from its start. */
export interface CommandTimes {
  firstMs: number
  endMs: number
}

/** Runs `upshot` on a data directory. `root`: an empty folder, for its cache as well. */
export async function timeCommand(
  root: string,
  dataDir: string,
  args: readonly string[],
  program = CLONE,
): Promise<CommandTimes> {
  const { PATH = '' } = process.env
  const begunAt = performance.now()
  const child = spawn(process.execPath, [join(program.code, 'cli/main.js'), ...args], {
    cwd: root,
    env: { PATH, UPSHOT_DATA_DIR: dataDir, XDG_CACHE_HOME: `${root}/cache` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  adopt(child)
  const text: string[] = []
  let firstMs = Number.NaN
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      if (text.length === 0) firstMs = performance.now() - begunAt
      text.push(part)
    })
  }
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`upshot ${args.join(' ')} ended with ${code}: ${text.join('')}`)
  return { firstMs, endMs: performance.now() - begunAt }
}
