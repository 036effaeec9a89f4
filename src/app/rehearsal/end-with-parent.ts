import { Worker } from 'node:worker_threads'

const LOOK_EVERY_MS = 1_000

/**
 * Lets a thread kill this process once its parent is gone. A loop of author's code on the main
 * thread hears no `disconnect`.
 */
export function endWithParent(): void {
  // Its parent names itself, for it may be gone before this process asks.
  const code = `
    const look = () => process.ppid === ${Number(process.argv[2])} || process.kill(process.pid, 'SIGKILL')
    setInterval(look, ${LOOK_EVERY_MS})`
  const watch = new Worker(code, { eval: true, execArgv: [], env: {} })
  watch.unref()
}
