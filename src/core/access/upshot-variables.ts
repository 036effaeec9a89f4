const KEPT = Symbol.for('upshot.variables')

type Variables = Readonly<Record<string, string>>

/**
 * Keys and addresses that the app has read and taken out of its environment. Add them to that of a
 * child process that runs `upshot`, and of no other. Empty in tests, and where a run is played.
 */
export function upshotVariables(): Record<string, string> {
  return { ...(globalThis as { [KEPT]?: Variables })[KEPT] }
}

/** Keeps variables for {@link upshotVariables} of this thread, in any copy of this file. */
export function keepVariables(variables: Variables): void {
  Object.defineProperty(globalThis, KEPT, { value: variables, configurable: true })
}
