import { decideMismatch, stepNameOf } from '../../core/runs/step.ts'
import type { Pass } from '../pass/pass.ts'

/** Real time between two looks at the code; several in a row must find it still. */
const LOOK_MS = 50
/** Real time of stillness after which code that has returned has diverged; in tests, any code. */
export const SHORT_STILL_MS = 250
/** Longest real time for which code may await something of its own in a replay. */
const STILL_MS = 5_000

/** Ends the watch, or tells it that the code has returned. */
export interface ReplayWatch {
  stop(): void
  noteReturn(): void
}

const NOTHING_TO_WATCH: ReplayWatch = { stop() {}, noteReturn() {} }

/**
 * Halts the pass where its code comes to rest before every recorded outcome is delivered: it has
 * diverged. See decision 33.
 */
export function watchReplay(pass: Pass): ReplayWatch {
  const { order, parking, stillMs = STILL_MS } = pass
  if (!order.isReplaying) return NOTHING_TO_WATCH
  let seen = -1
  let still = 0
  let hasReturned = false
  const patienceMs = () => {
    if (hasReturned) return Math.min(stillMs, SHORT_STILL_MS)
    return order.isAskedOutOfOrder ? stillMs : STILL_MS
  }
  const look = () => {
    if (!order.isReplaying) return
    const isStill = order.moves === seen && !parking.isBusy
    seen = order.moves
    still = isStill ? still + LOOK_MS : 0
    if (still >= patienceMs()) haltDiverged(pass)
    else timer = setTimeout(look, LOOK_MS)
  }
  let timer = setTimeout(look, LOOK_MS)
  return {
    stop: () => clearTimeout(timer),
    noteReturn: () => {
      hasReturned = true
    },
  }
}

function haltDiverged({ order, parking, places, isCodeChanged }: Pass): void {
  const { expected, unexpected, early } = order
  const swapped = early && { key: early.key, kind: early.kind, place: places.find(stepNameOf(early.key)) }
  const came = unexpected ?? swapped ?? null
  const reason = expected && decideMismatch({ at: 'rest', expected, came }, isCodeChanged)
  if (reason) void parking.halt(reason)
}
