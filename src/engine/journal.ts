import { StepError } from '../core/errors.ts'
import type { Lease } from '../core/lease.ts'
import { type Checkpoint, type StepName, stepKeys } from '../core/step.ts'
import type { StepFailure, Store } from '../core/store.ts'

/** What a pass through a run knows of its steps: those of earlier passes, and those it adds. */
export class Journal {
  readonly #store: Pick<Store, 'saveCheckpoint'>
  readonly #lease: Lease
  readonly #known: Map<string, Checkpoint>
  readonly #nextKey = stepKeys()
  #unreached: number
  #nextPosition: number
  #now: number
  #written: Promise<unknown> = Promise.resolve()

  constructor(store: Pick<Store, 'saveCheckpoint'>, lease: Lease, known: readonly Checkpoint[], startedAt: number) {
    this.#store = store
    this.#lease = lease
    this.#known = new Map(known.map((step) => [step.key, step]))
    this.#unreached = known.length
    this.#nextPosition = Math.max(-1, ...known.map((step) => step.position)) + 1
    this.#now = startedAt
  }

  /** The steps that this run has finished, in this pass and before. */
  get finished(): number {
    return [...this.#known.values()].filter((step) => step.status !== 'waiting').length
  }

  /** True until every step of earlier passes has been reached again. */
  get isReplaying(): boolean {
    return this.#unreached > 0
  }

  /** The run's own time: that of its newest step so far. The same in every pass. */
  get now(): number {
    return this.#now
  }

  /** The key of the step that begins now, and what is known of it. */
  reach(name: StepName): { key: string; known: Checkpoint | undefined } {
    const key = this.#nextKey(name)
    const known = this.#known.get(key)
    if (known) {
      this.#unreached -= 1
      this.#passTime(known)
    }
    return { key, known }
  }

  /** A position for a step that begins for the first time. */
  takePosition(): number {
    return this.#nextPosition++
  }

  /** Keeps a checkpoint. The write is on its way, not yet on disk: {@link barrier} waits for it. */
  record(step: Checkpoint, failure?: StepFailure): void {
    this.#known.set(step.key, step)
    this.#passTime(step)
    const saved = this.#store.saveCheckpoint(this.#lease, step, failure)
    this.#written = Promise.all([this.#written, saved])
    // Whoever waits at the barrier gets the error; where nobody does, the end of the run meets it.
    this.#written.catch(() => {})
  }

  /** Resolves when everything recorded so far is on disk; rejects when it cannot be. */
  async barrier(): Promise<void> {
    await this.#written
  }

  #passTime(step: Checkpoint): void {
    if (step.finishedAt !== null) this.#now = Math.max(this.#now, step.finishedAt)
  }
}

/** The result that a finished step gives back, again and again. */
export function replayStep(step: Checkpoint): unknown {
  if (step.status === 'completed') return JSON.parse(step.output ?? 'null')
  throw new StepError(step.key, step.attempt, step.error ?? { name: 'Error', message: 'unknown failure' })
}
