import type { IncomingMessage } from 'node:http'
import { isProbeMark, MARK_MS, PROBE_HEADER } from '../../core/incoming/probe-mark.ts'
import type { SelfProbe } from './self-probe.ts'

/** Marks that are remembered as used; beyond them, a mark is not believed. */
const MAX_USED = 1_000

/** Tells the probes of this receiver, and with a key those of our commands, from other requests. */
export function openProbeCheck(selfProbe: SelfProbe, key: Uint8Array | undefined) {
  const known = key === undefined ? null : new KnownProbes(key)
  return (request: IncomingMessage, path: string, now: number): 'self' | 'command' | null => {
    const mark = request.headers[PROBE_HEADER]
    if (typeof mark !== 'string') return null
    if (selfProbe.recognize(request)) return 'self'
    return known?.recognize(mark, { path, now }) ? 'command' : null
  }
}

/** Recognizes the probes of our commands by their marks. Each mark counts once. */
class KnownProbes {
  readonly #key: Uint8Array
  /** The moment from which each used mark may be forgotten. */
  readonly #used = new Map<string, number>()

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** `path`: the part of the address behind `/hooks/`. */
  recognize(mark: string, { path, now }: { path: string; now: number }): boolean {
    if (!isProbeMark(this.#key, mark, { path, now }) || this.#used.has(mark)) return false
    for (const [old, until] of this.#used) if (until <= now) this.#used.delete(old)
    if (this.#used.size >= MAX_USED) return false
    // A mark from the future of our clock is good for up to twice the time.
    this.#used.set(mark, now + 2 * MARK_MS)
    return true
  }
}
