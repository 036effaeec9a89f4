const KEPT = Symbol.for('upshot.ownDelete')

type AskDelete = (host: string) => void

/**
 * Throws where code of a run deletes with a client of its own, at a host of a known account. Any
 * client calls it before a delete.
 */
export function askOwnDelete(host: string): void {
  ;(globalThis as { [KEPT]?: AskDelete })[KEPT]?.(host)
}

/** Sets the judge of {@link askOwnDelete} in this thread, for any copy of this file. */
export function keepOwnDelete(ask: AskDelete): void {
  Object.defineProperty(globalThis, KEPT, { value: ask, configurable: true })
}
