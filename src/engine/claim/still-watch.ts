import { stepNameOf } from '../../core/runs/step.ts'
import type { Clock } from '../../core/time.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { countMoves, describeStill } from '../pass/still-code.ts'

/** Time without a movement after which a run says where it stands. */
const STILL_MS = 60_000

/**
 * Watches a pass for code that does nothing while no step is at work. It awaits something outside
 * its steps, perhaps for ever, and the log of the run tells it once.
 */
export class StillWatch {
  /** Null before the code is called. */
  pass: Pass | null
  #moves: number | null = null
  #since = 0
  #isTold = false

  constructor(pass: Pass | null) {
    this.pass = pass
  }

  /** To be called again and again. */
  look(clock: Clock): void {
    if (this.pass === null || this.#isTold) return
    const moves = countMoves(this.pass)
    // The clock of the machine may be set.
    const moment = clock.uptime?.() ?? clock.now()
    if (moves === null || moves !== this.#moves) {
      this.#moves = moves
      this.#since = moment
    } else if (moment - this.#since >= STILL_MS) {
      this.#isTold = true
      reportStill(this.pass, moment - this.#since)
    }
  }
}

function reportStill(pass: Pass, ms: number): void {
  const { lastEnded } = pass.journal
  const seconds = Math.floor(ms / 1_000)
  const message = `nothing has moved for ${seconds} s: ${describeStill(pass)}`
  const facts = {
    calledAt: lastEnded === null ? null : pass.places.find(stepNameOf(lastEnded)),
    awaits: pass.parking.ownWork.pending?.place ?? null,
  }
  pass.publish({ kind: 'run.log', ...aboutRun(pass), level: 'warn', message, facts })
}
