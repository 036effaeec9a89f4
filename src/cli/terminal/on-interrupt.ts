let interrupted: AbortController | null = null
/** Commands at work in this process: one, but for tests. */
let commands = 0

/** Aborts at the first Ctrl-C, for an orderly stop. The second exits at once, with 130. */
export function onInterrupt(): AbortSignal {
  if (interrupted === null) {
    interrupted = new AbortController()
    process.on('SIGINT', interrupt)
  }
  return interrupted.signal
}

function interrupt(): void {
  if (interrupted?.signal.aborted) process.exit(130)
  interrupted?.abort(new DOMException('Interrupted.', 'AbortError'))
}

/** Listens to Ctrl-C for no longer than a command is at work. */
export async function whileInterruptible<T>(run: () => Promise<T>): Promise<T> {
  commands += 1
  try {
    return await run()
  } finally {
    commands -= 1
    if (commands === 0) {
      process.off('SIGINT', interrupt)
      interrupted = null
    }
  }
}
