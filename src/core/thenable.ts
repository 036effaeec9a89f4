/** True for a promise, and for any object that can be awaited like one. */
export function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  try {
    return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
  } catch {
    // A proxy may throw whenever it is looked at.
    return false
  }
}

/** The value itself; if it is a promise that nobody awaits, its rejection is handled here. */
export function silence<T>(value: T): T {
  if (isThenable(value)) value.then(undefined, () => {})
  return value
}
