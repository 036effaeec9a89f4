import { isStaleLease } from '../../core/runs/lease.ts'
import type { Checkpoint } from '../../core/runs/step.ts'

/** Why a pass ends before its run does. */
export type Park =
  /** `asksPeople`: an answer or a decision of people ends one of its waits. */
  | { kind: 'parked'; dueAt: number | null; reason: string; awaits?: readonly string[]; asksPeople?: true }
  /** The process stops; any worker may go on with the run. */
  | { kind: 'released' }
  /** The run was canceled or taken over. */
  | { kind: 'lost' }
  /** The store failed, so that nothing can be decided here. */
  | { kind: 'broken'; error: unknown }

/** The end of a pass whose rows could not be written: its run is another worker's, or it broke. */
export function describeUnsaved(error: unknown): Extract<Park, { kind: 'lost' | 'broken' }> {
  return isStaleLease(error) ? { kind: 'lost' } : { kind: 'broken', error }
}

export type WaitingStep = Pick<Checkpoint, 'key' | 'position'>
/**
 * The end of a wait before its moment. `event`: or another run. `answer`, `decision`: of people; no
 * hint tells of a decision about held effects.
 */
export type WaitEnd = 'event' | 'answer' | 'decision'

/** A reason for a pass to park. */
export interface Wait {
  position: number
  dueAt: number | null
  reason: string
  awaits: string | undefined
  asksPeople: boolean
  /** True where a hint tells that it may be over. */
  looks: boolean
  wake: () => void
}

/** The run wakes at the earliest moment, or when one of the awaited steps is resolved. */
export function joinWaits(waits: readonly Wait[]): Park {
  const { dueAt, reason } = waits.reduce((first, wait) =>
    (wait.dueAt ?? Infinity) < (first.dueAt ?? Infinity) ? wait : first,
  )
  const awaits = waits.flatMap((wait) => wait.awaits ?? [])
  const asksPeople = waits.some((wait) => wait.asksPeople) ? ({ asksPeople: true } as const) : {}
  return { kind: 'parked', dueAt, reason, ...(awaits.length > 0 ? { awaits } : {}), ...asksPeople }
}

/** A pass whose steps look for themselves whether their waits are over. */
interface Looker {
  look(): void
}

/**
 * Hints, for the passes of one worker, that an event or a run may have ended a wait. None is lost:
 * the count tells whether one came since a look.
 */
export class WaitHints {
  readonly #lookers = new Set<Looker>()
  #count = 0

  get count(): number {
    return this.#count
  }

  add(looker: Looker): void {
    this.#lookers.add(looker)
  }

  delete(looker: Looker): void {
    this.#lookers.delete(looker)
  }

  hint(): void {
    this.#count += 1
    for (const looker of [...this.#lookers]) looker.look()
  }
}
