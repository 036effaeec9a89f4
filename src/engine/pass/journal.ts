import type { Lease } from '../../core/runs/lease.ts'
import { type Checkpoint, REPEATED_NAME_WARNING, type StepName, stepKeys } from '../../core/runs/step.ts'
import type { SavedWithStep } from '../../core/runs/wait.ts'
import type { StepFailure } from '../../core/store/journal.ts'

import type { WorkerParts } from '../worker-parts.ts'

interface JournalParts {
  store: Pick<WorkerParts['store'], 'saveCheckpoint'>
  lease: Lease
  /** The steps of earlier passes. */
  known: readonly Checkpoint[]
  startedAt: number
  /**
   * True where the pass before parked, so that it came as far as its journal allows. Default false.
   */
  isContinued?: boolean
  /** To be written with the first checkpoint; null where the run's row has it. */
  codeHash: string | null
}

/**
 * The steps of earlier passes until this pass reaches them, and the state of its own writes. It
 * keeps no results, so that memory does not grow with the number of steps.
 */
export class Journal {
  readonly #parts: Pick<JournalParts, 'store' | 'lease'>
  readonly #unreached: Map<string, Checkpoint>
  readonly #nextKey = stepKeys()
  readonly #asked = new Set<string>()
  #codeHash: string | null
  #finished: number
  #nextPosition = 0
  #now: number
  #saving = 0
  #isContinued: boolean
  #failure: { error: unknown } | null = null
  #barrier: PromiseWithResolvers<void> | null = null

  constructor({ store, lease, known, startedAt, codeHash, isContinued = false }: JournalParts) {
    this.#isContinued = isContinued
    this.#parts = { store, lease }
    this.#unreached = new Map(known.map((step) => [step.key, step]))
    this.#codeHash = codeHash
    this.#finished = known.filter(isFinished).length
    for (const { key, effect, status, position } of known) {
      this.#nextPosition = Math.max(this.#nextPosition, position + 1)
      if (effect === 'delete' && status === 'waiting') this.#asked.add(key)
    }
    this.#now = startedAt
  }

  /** Number of steps that this run has finished, in this pass and before. */
  get finished(): number {
    return this.#finished
  }

  /**
   * True until every step of earlier passes has been reached again. After a pass that parked, also
   * until this one records something.
   */
  get isReplaying(): boolean {
    return this.#unreached.size > 0 || this.#isContinued
  }

  /** The steps of earlier passes that this one has not reached. */
  get unreached(): Iterable<Checkpoint> {
    return this.#unreached.values()
  }

  /** The finishing time of the newest step reached so far: the same in every pass. */
  get now(): number {
    return this.#now
  }

  /**
   * The key of the step that begins now and its row from an earlier pass. `isRepeated` is true
   * once, at occurrence {@link REPEATED_NAME_WARNING} of a name without a key.
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

  /** True for a delete that an earlier pass began and did not end: it may have been sent. */
  hasAsked(key: string): boolean {
    return this.#asked.has(key)
  }

  /** The position of a step that begins for the first time. */
  takePosition(): number {
    return this.#nextPosition++
  }

  /** Begins to write a checkpoint. The result, and {@link barrier}, resolve when it is on disk. */
  record(step: Checkpoint, failure?: StepFailure, savedWithStep?: SavedWithStep): Promise<void> {
    this.#isContinued = false
    this.#passTime(step)
    if (isFinished(step)) this.#finished += 1
    const saved = this.#parts.store.saveCheckpoint(this.#parts.lease, step, failure, this.#withHash(savedWithStep))
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
   * Resolves when every checkpoint so far is on disk, rejects if one of them failed. Null where all
   * are on disk already.
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

  #withHash(savedWithStep: SavedWithStep | undefined): SavedWithStep | undefined {
    if (this.#codeHash === null) return savedWithStep
    const codeHash = this.#codeHash
    this.#codeHash = null
    return { ...savedWithStep, codeHash }
  }

  #passTime(step: Checkpoint): void {
    if (step.finishedAt !== null) this.#now = Math.max(this.#now, step.finishedAt)
  }
}

export function isFinished({ status }: Checkpoint): boolean {
  return status === 'completed' || status === 'failed'
}
