/** Longest time for which a module may load, or block the engine meanwhile. */
export const MAX_LOAD_MS = 10_000

/** How long an engine's loop has been blocked, as far as its watcher has seen. */
export interface Blockage {
  /** Another one each time that there was progress, as a number that rises while the loop turns. */
  beat: number | string
  /** When the watcher looked last, in epoch milliseconds. */
  seenAt: number
  blockedMs: number
}

/**
 * The next look of a watcher that looks every `everyMs`. A longer gap counts as two intervals: the
 * watcher was suspended then, and so was the engine.
 */
export function observeBeat(
  before: Blockage | null,
  seen: Pick<Blockage, 'beat'> & { now: number },
  everyMs: number,
): Blockage {
  const { beat, now } = seen
  if (before === null || beat !== before.beat) return { beat, seenAt: now, blockedMs: 0 }
  const passedMs = Math.min(Math.max(0, now - before.seenAt), 2 * everyMs)
  return { beat, seenAt: now, blockedMs: before.blockedMs + passedMs }
}

/** Why an engine ended that nobody had asked to stop. */
export type EngineEndCause = 'blocked' | 'exited' | 'threw' | 'out_of_memory' | 'replaced' | 'killed' | 'stalled'

/** Memory of an engine, or of the process, which holds what native code takes, too. */
export interface MemoryUse {
  of: 'heap' | 'buffers' | 'process'
  bytes: number
  /** The limit. */
  most: number
}

/** Life after which an earlier end no longer counts. */
const SOUND_AFTER_MS = 60_000
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000

/** Ends of an engine in quick succession. */
export interface EngineEnds {
  /** The last end counts as the first one where the engine lived for a minute before it. */
  count: number
  /** How long the next start waits: not at all after the first end, then 250 ms to 30 s. */
  pauseMs: number
}

export function countEnd(before: EngineEnds | null, livedMs: number): EngineEnds {
  const count = before === null || livedMs >= SOUND_AFTER_MS ? 1 : before.count + 1
  return { count, pauseMs: count === 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (count - 2), MAX_PAUSE_MS) }
}
