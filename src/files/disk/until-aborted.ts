/**
 * Resolves when `other` settles, either way. Rejects with the signal's reason when that aborts
 * first.
 */
export function untilAborted(other: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    const settle = () => {
      signal.removeEventListener('abort', abort)
      resolve()
    }
    other.then(settle, settle)
  })
}
