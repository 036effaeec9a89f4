import type { RunOutcome } from '../../core/runs/run.ts'
import { quietly } from '../pass/own-work.ts'
import type { Pass } from '../pass/pass.ts'
import { countMoves, describeStill } from '../pass/still-code.ts'

/** Real time between two looks at the code; several in a row must find it still. */
const LOOK_MS = 50
/** Real time of stillness after which the code awaits what never comes. */
const STILL_MS = 5_000
/** Work that the code has begun outside steps may take this many times as long. */
const WITH_WORK = 4

interface StillEnd {
  /** Resolves where the code is still. */
  outcome: Promise<RunOutcome>
  stop(): void
}

/** Fails a run whose code never settles. `isAnswering`: a step still waits for its answer. */
export function failWhenStill(pass: Pass, isAnswering: () => boolean, stillMs = STILL_MS): StillEnd {
  const { order, parking } = pass
  const { promise, resolve } = Promise.withResolvers<RunOutcome>()
  let seen: number | null = null
  let still = 0
  const look = () => {
    const moves = order.isReplaying || isAnswering() ? null : countMoves(pass)
    still = moves !== null && moves === seen ? still + LOOK_MS : 0
    seen = moves
    if (still < stillMs * (parking.ownWork.pending === null ? 1 : WITH_WORK)) return
    resolve({ kind: 'failed', error: { name: 'Error', message: `Nothing moves: ${describeStill(pass)}.` } })
  }
  const timer = quietly(() => setInterval(look, LOOK_MS))
  return { outcome: promise, stop: () => clearInterval(timer) }
}
