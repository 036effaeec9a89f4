import type { Lease } from '../../core/runs/lease.ts'
import { type Checkpoint, REPEATED_NAME_WARNING, type StepName, stepKeys } from '../../core/runs/step.ts'
import type { SavedWithStep } from '../../core/runs/wait.ts'
import type { StepFailure } from '../../core/store/journal.ts'
import type { Store } from '../../core/store/store.ts'

export interface JournalParts {
  store: Pick<Store, 'saveCheckpoint'>
  lease: Lease
  /** The steps of earlier passes. */
  known: readonly Checkpoint[]
  startedAt: number
  /** To be kept with the first checkpoint; null where the run's row has it. */
  codeHash: string | null
}

/**
 * What a pass through a run knows of its steps: those of earlier passes until they are reached
 * again, and how far the writes of this one are. It keeps no results, so that a run of thousands of
 * steps does not gather them all in memory.
 */
export class Journal {
  readonly #parts: Pick<JournalParts, 'store' | 'lease'>
  readonly #unreached: Map<string, Checkpoint>
  readonly #nextKey = stepKeys()
  #codeHash: string | null
  #finished: number
  #nextPosition = 0
  #now: number
  #saving = 0
  #failure: { error: unknown } | null = null
  #barrier: PromiseWithResolvers<void> | null = null

  constructor({ store, lease, known, startedAt, codeHash }: JournalParts) {
    this.#parts = { store, lease }
    this.#unreached = new Map(known.map((step) => [step.key, step]))
    this.#codeHash = codeHash
    this.#finished = known.filter(isFinished).length
    for (const { position } of known) this.#nextPosition = Math.max(this.#nextPosition, position + 1)
    this.#now = startedAt
  }

  /** The steps that this run has finished, in this pass and before. */
  get finished(): number {
    return this.#finished
  }

  /** True until every step of earlier passes has been reached again. */
  get isReplaying(): boolean {
    return this.#unreached.size > 0
  }

  /** The steps of earlier passes that this one has not come to. */
  get unreached(): Iterable<Checkpoint> {
    return this.#unreached.values()
  }

  /** The run's own time: that of its newest step so far. The same in every pass. */
  get now(): number {
    return this.#now
  }

  /**
   * The key of the step that begins now, what is known of it, and whether its name alone has now
   * been used very often.
   */
  reach(name: StepName): { key: string; known: Checkpoint | undefined; isRepeated: boolean } {
    const key = this.#nextKey(name)
    const known = this.#unreached.get(key)
    if (known) {
      this.#unreached.delete(key)
      this.#passTime(known)
    }
    return { key, known, isRepeated: !known && key === `${name}#${REPEATED_NAME_WARNING}` }
  }

  /** A position for a step that begins for the first time. */
  takePosition(): number {
    return this.#nextPosition++
  }

  /**
   * Keeps a checkpoint. The write is on its way, not yet on disk: {@link barrier} waits for it, and
   * so does the result.
   */
  record(step: Checkpoint, failure?: StepFailure, alongside?: SavedWithStep): Promise<void> {
    this.#passTime(step)
    if (isFinished(step)) this.#finished += 1
    const saved = this.#parts.store.saveCheckpoint(this.#parts.lease, step, failure, this.#withHash(alongside))
    this.#saving += 1
    saved.then(
      () => this.#saved(),
      (error: unknown) => {
        this.#failure ??= { error }
        this.#saved()
      },
    )
    return saved
  }

  /**
   * Resolves when everything recorded so far is on disk, rejects when it cannot be; null where it
   * is there already.
   */
  barrier(): Promise<void> | null {
    if (this.#failure) return Promise.reject(this.#failure.error)
    if (this.#saving === 0) return null
    this.#barrier ??= Promise.withResolvers()
    return this.#barrier.promise
  }

  #saved(): void {
    this.#saving -= 1
    if (this.#failure) this.#barrier?.reject(this.#failure.error)
    else if (this.#saving === 0) this.#barrier?.resolve()
    else return
    this.#barrier = null
  }

  #withHash(alongside: SavedWithStep | undefined): SavedWithStep | undefined {
    if (this.#codeHash === null) return alongside
    const codeHash = this.#codeHash
    this.#codeHash = null
    return { ...alongside, codeHash }
  }

  #passTime(step: Checkpoint): void {
    if (step.finishedAt !== null) this.#now = Math.max(this.#now, step.finishedAt)
  }
}

export function isFinished({ status }: Checkpoint): boolean {
  return status === 'completed' || status === 'failed'
}
