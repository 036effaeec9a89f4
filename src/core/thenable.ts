/** True for a promise, and for any object that can be awaited like one. */
export function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  try {
    return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
  } catch {
    // A proxy may throw whenever it is looked at.
    return false
  }
}

/** The same, unless the signal aborts first: then it rejects at once, with the signal's reason. */
export async function unlessAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason)
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([awaited, aborted])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** The value itself; if it is a promise that nobody awaits, its rejection is handled here. */
export function silence<T>(value: T): T {
  if (isThenable(value)) value.then(undefined, () => {})
  return value
}
