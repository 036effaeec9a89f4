import type { RunOutcome } from '../../core/runs/run.ts'
import { quietly } from '../pass/own-work.ts'
import type { Pass } from '../pass/pass.ts'

/** Real time between two looks at the code; several in a row must find it still. */
const LOOK_MS = 50
/** Real time of stillness after which the code awaits what never comes. */
const STILL_MS = 5_000
/** Work that the code has begun outside steps may take this many times as long. */
const WITH_WORK = 4

export interface StillWatch {
  /** The end of a run whose code does nothing while no step is at work. */
  ended: Promise<RunOutcome>
  stop(): void
}

/** Ends the wait for code that never settles. `isAnswering`: a step still waits for its answer. */
export function watchStill(pass: Pass, isAnswering: () => boolean, stillMs = STILL_MS): StillWatch {
  const { order, parking, journal } = pass
  const { promise, resolve } = Promise.withResolvers<RunOutcome>()
  let seen = -1
  let still = 0
  const look = () => {
    const moves = order.moves + parking.ownWork.moves
    const isStill = moves === seen && !order.isReplaying && !parking.isBusy && !parking.isClosed && !isAnswering()
    seen = moves
    still = isStill ? still + LOOK_MS : 0
    if (still < stillMs * (parking.ownWork.pending === null ? 1 : WITH_WORK)) return
    const since = journal.lastEnded === null ? 'before its first step' : `since step "${journal.lastEnded}" ended`
    const message = `The code awaits something outside its steps, ${since}, and it does not come.`
    resolve({ kind: 'failed', error: { name: 'Error', message } })
  }
  const timer = quietly(() => setInterval(look, LOOK_MS))
  return { ended: promise, stop: () => clearInterval(timer) }
}
