import { type ChildProcessWithoutNullStreams, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** Starts a program. It and the processes that it has started are killed after the test. */
export function startGroup(
  file: string,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(file, args, { ...options, detached: true })
  const end = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // Nothing is left.
    }
  }
  // A terminal that interrupts the tests does not reach another group.
  process.once('exit', end)
  onTestFinished(() => {
    process.off('exit', end)
    end()
  })
  return child
}

/** Runs a program, and returns its output. Rejects with the output of one that fails. */
export async function runGroup(...started: Parameters<typeof startGroup>): Promise<string> {
  const child = startGroup(...started)
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (status === 0) return stdout
  throw Object.assign(new Error(`${started[1].join(' ')} ended with ${status}: ${stderr}`), { stdout, stderr })
}
