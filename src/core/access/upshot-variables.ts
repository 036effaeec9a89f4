const KEPT = Symbol.for('upshot.variables')

type ReadVariables = () => Readonly<Record<string, string>>

/**
 * Keys and addresses that the app has read and taken out of its environment. Add them to that of a
 * child process that runs `upshot`, and of no other. Throws in a run whose workflow `outside.keys`
 * of the project file does not name. Empty in tests, and where a run is previewed.
 */
export function upshotVariables(): Record<string, string> {
  return { ...(globalThis as { [KEPT]?: ReadVariables })[KEPT]?.() }
}

/** Sets the answer of {@link upshotVariables} in this thread, for any copy of this file. */
export function keepVariables(read: ReadVariables): void {
  Object.defineProperty(globalThis, KEPT, { value: read, configurable: true })
}
