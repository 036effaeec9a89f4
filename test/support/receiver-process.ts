import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import type { ReceiveLimits } from '../../src/receive/limits/intake-limit.ts'
import { tempFolder } from './temp-folder.ts'

/** The options that the process starts with. */
export interface ReceiverSetup {
  folder: string
  secret: string
  limits: Partial<ReceiveLimits>
  timeouts: { requestTimeout?: number; headersTimeout?: number; connectionsCheckingInterval?: number }
}

export interface ReceiverProcess {
  url: string
  path: string
  /** Resident bytes: at the start, and the peak since. */
  memory(): Promise<{ started: number; peak: number }>
}

/** Starts the real receiver in its own process, to measure its memory. It ends with the test. */
export async function startReceiverProcess(setup: Omit<ReceiverSetup, 'folder'>): Promise<ReceiverProcess> {
  const child = fork(new URL('./receiver-process-main.ts', import.meta.url), [], {
    execArgv: ['--expose-gc', '--max-old-space-size=512'],
  })
  onTestFinished(() => end(child))
  const started = once(child, 'message')
  child.send({ ...setup, folder: tempFolder() } satisfies ReceiverSetup)
  const [{ url, path }] = (await started) as [{ url: string; path: string }]
  return {
    url,
    path,
    async memory() {
      const answer = once(child, 'message')
      child.send('memory')
      const [memory] = (await answer) as [{ started: number; peak: number }]
      return memory
    },
  }
}

/** Closes the channel, at which the process exits. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  if (child.connected) child.disconnect()
  await exit
}
