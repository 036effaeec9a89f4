import type { Progress } from '../../core/runs/annotations/progress.ts'
import type { Lease } from '../../core/runs/lease.ts'
import {
  type Checkpoint,
  isFinished,
  numberOf,
  REPEATED_NAME_WARNING,
  type StepFailure,
  type StepName,
  stepKeys,
} from '../../core/runs/step.ts'
import type { SavedWithStep } from '../../core/runs/wait.ts'
import type { EffectAsk, EffectPermit, FileBefore } from '../../core/safety/effect.ts'
import type { EffectList, EffectShare, ListRoom } from '../../core/safety/effect-group.ts'
import type { AskOptions } from '../../core/store/effects.ts'
import type { JournalStore } from '../worker-parts.ts'
import type { RunTags } from './annotations.ts'
import { neverSettles } from './parking.ts'
import { Unsaved } from './unsaved.ts'

interface JournalParts {
  store: JournalStore
  lease: Lease
  /** The steps of earlier passes. */
  known: readonly Checkpoint[]
  startedAt: number
  /**
   * True where the pass before parked, so that it came as far as its journal allows. Default false.
   */
  isContinued?: boolean
  tags: RunTags
  /** To be written with the first checkpoint; null where the run's row has it. */
  codeHash: string | null
}

/**
 * The steps of earlier passes until this pass reaches them, and the state of its own writes. It
 * keeps no results, so that memory does not grow with the number of steps.
 */
export class Journal {
  readonly #store: JournalStore
  #lease: Lease
  /** Steps of earlier passes; none where the code has reached it, to free its memory. */
  readonly #known: (Checkpoint | undefined)[]
  /** Index of the first known step that the code has not reached. */
  #cursor = 0
  /** The rest of the known steps by key, once the code has reached one out of their order. */
  #unreached: Map<string, Checkpoint> | null = null
  readonly #nextKey = stepKeys()
  readonly #tags: RunTags
  #codeHash: string | null
  #finished = 0
  #lastEnded: string | null = null
  #givenBytes = 0
  /** Keys of the new steps that have begun and not ended. */
  readonly #open = new Set<string>()
  #nextPosition = 0
  #lists = 0
  #now: number
  /** Calls of steps in this pass. */
  #calls = 0
  readonly #unsaved = new Unsaved()
  /** Asked before effects. Outcomes wait for none of these: they may go on without a pause. */
  readonly #asks = new Unsaved((error) => this.#unsaved.fail(error))
  #isContinued: boolean
  #hasRecorded = false
  #isClosed = false

  constructor({ store, lease, known, startedAt, tags, codeHash, isContinued = false }: JournalParts) {
    this.#isContinued = isContinued
    this.#store = store
    this.#lease = lease
    this.#known = [...known]
    this.#tags = tags
    this.#codeHash = codeHash
    for (const step of known) {
      if (isFinished(step)) this.#finished += 1
      this.#nextPosition = Math.max(this.#nextPosition, step.position + 1)
    }
    this.#now = startedAt
  }

  /** Number of steps that this run has finished, in this pass and before. */
  get finished(): number {
    return this.#finished
  }

  /**
   * True after a pass that parked, until this one records something: the code has not come further
   * than before.
   */
  get isContinued(): boolean {
    return this.#isContinued
  }

  /** True once this pass has recorded something. */
  get hasRecorded(): boolean {
    return this.#hasRecorded
  }

  /** The steps of earlier passes that this one has not reached. */
  get unreached(): IteratorObject<Checkpoint> {
    return this.#unreached?.values() ?? this.#rest.values()
  }

  /** Key of the step whose outcome is the newest; null before the first. */
  get lastEnded(): string | null {
    return this.#lastEnded
  }

  /** True where an earlier pass has come further; a marker of changed code may be gone. */
  get hasUnreached(): boolean {
    return this.unreached.some(({ kind }) => kind !== 'patch')
  }

  /** Number of steps that have begun, in this pass and before. */
  get begun(): number {
    return this.#nextPosition
  }

  /** Bytes of the results that the code has been given, about. */
  get givenBytes(): number {
    return this.#givenBytes
  }

  /** Goes on under the lease of another pass, which has recorded nothing yet. */
  goOn(lease: Lease): void {
    this.#lease = lease
    this.#hasRecorded = false
    this.#open.clear()
  }

  /** True for a step of an earlier pass that this one has not reached. */
  knows(key: string): boolean {
    return this.unreached.some((step) => step.key === key)
  }

  /** True where the code may end with the steps that this pass has reached. */
  get hasReachedOutcomes(): boolean {
    return !this.unreached.some((step) => numberOf(step) > 0)
  }

  /** The finishing time of the newest step delivered so far: the same in every pass. */
  get now(): number {
    return this.#now
  }

  /**
   * The key of the step that begins now and its row from an earlier pass. `isRepeated` is true
   * once, at occurrence {@link REPEATED_NAME_WARNING} of a name without a key. `isShared`: the
   * second of that name begins before the first has ended.
   */
  reach(name: StepName): { key: string; known: Checkpoint | undefined; isRepeated: boolean; isShared: boolean } {
    const key = this.#nextKey(name)
    const known = this.#takeKnown(key)
    if (known) return { key, known, isRepeated: false, isShared: false }
    const isNumbered = key !== name && typeof name === 'string'
    const isShared = isNumbered && this.#open.has(name) && key === `${name}#2`
    this.#open.add(key)
    return { key, known, isRepeated: isNumbered && key === `${name}#${REPEATED_NAME_WARNING}`, isShared }
  }

  /** The run's time goes on to the end of a step that the code is given. */
  noteDelivery(step: Checkpoint): void {
    if (step.finishedAt === null || step.kind === 'patch') return
    this.#lastEnded = step.key
    this.#now = Math.max(this.#now, step.finishedAt)
    this.#givenBytes += step.apartBytes ?? step.output?.length ?? 0
  }

  /** True once a write has failed. Nothing may begin then. */
  get hasFailed(): boolean {
    return this.#unsaved.hasFailed
  }

  /**
   * Resolves when the code may be given more outcomes, which are written then. Null where it may
   * already; rejects where a write has failed.
   */
  room(): Promise<void> | null {
    return this.#unsaved.isFull || this.hasFailed ? this.#unsaved.barrier() : null
  }

  /** Resolves when every write is under way; null where all are already. */
  sent(): Promise<void> | null {
    return this.#unsaved.sent()
  }

  /** Counts a call of a step, refused ones included, and returns the number of calls so far. */
  noteCall(): number {
    return ++this.#calls
  }

  /** The outcome of the run is decided: what comes later is not written, and never settles. */
  close(): void {
    this.#isClosed = true
  }

  /** Writes the tags that no step was left to be written with; null where there are none. */
  saveTags(): Promise<void> | null {
    const tags = this.#tags.take()
    return tags ? this.#unsaved.write(() => this.#store.saveTags(this.#lease, tags)) : null
  }

  /** Nothing waits for this write, and nothing fails with it. */
  saveProgress(progress: Progress): Promise<void> {
    return this.#store.saveProgress(this.#lease, progress)
  }

  /** The position of a step that begins for the first time. */
  takePosition(): number {
    return this.#nextPosition++
  }

  /** Begins to write a checkpoint. The result, and {@link barrier}, resolve when it is on disk. */
  record(step: Checkpoint, failure?: StepFailure, savedWithStep?: SavedWithStep): Promise<void> {
    if (this.#isClosed) return neverSettles()
    this.#isContinued = false
    this.#hasRecorded = true
    this.noteDelivery(step)
    if (isFinished(step)) {
      this.#finished += 1
      this.#open.delete(step.key)
    }
    const tags = this.#tags.take()
    const withHash = this.#withHash(tags ? { ...savedWithStep, tags } : savedWithStep)
    return this.#unsaved.write(() => this.#store.saveCheckpoint(this.#lease, step, failure, withHash))
  }

  /**
   * Asks whether effects may begin, and saves the rows of their steps. A failure counts as one of
   * {@link record}: nothing goes on after it.
   */
  beginEffects(asks: readonly EffectAsk[], options: AskOptions): Promise<EffectPermit[]> {
    const { codeHash } = this.#withHash(undefined) ?? {}
    return this.#asks.write(() => this.#store.beginEffects(this.#lease, asks, { ...options, codeHash }))
  }

  /** The number of a list that begins now, unlike that of any other of this pass. */
  takeList(): number {
    return this.#lists++
  }

  /** Decides about a long list before its parts begin; fails as {@link beginEffects}. */
  reserveEffects(list: EffectList, shares: readonly EffectShare[], options: AskOptions): Promise<ListRoom> {
    return this.#asks.write(() => this.#store.reserveEffects(this.#lease, list, shares, options))
  }

  /** Begins a part of a long list; fails as {@link beginEffects}. */
  beginPart(
    asks: readonly EffectAsk[],
    part: { list: EffectList; room: ListRoom | null },
    options: AskOptions,
  ): Promise<(EffectPermit | null)[]> {
    const { codeHash } = this.#withHash(undefined) ?? {}
    return this.#asks.write(() => this.#store.beginPart(this.#lease, asks, part, { ...options, codeHash }))
  }

  /** Notes how a delete finds its file, before its request; fails as {@link beginEffects}. */
  noteSeen(key: string, seen: FileBefore): Promise<void> {
    return this.#asks.write(() => this.#store.noteSeen(this.#lease, key, seen))
  }

  /**
   * Resolves when every checkpoint so far is on disk, rejects if one of them failed. Null where all
   * are on disk already.
   */
  barrier(): Promise<void> | null {
    return this.#unsaved.barrier()
  }

  get #rest(): Checkpoint[] {
    return this.#known.slice(this.#cursor) as Checkpoint[]
  }

  /** Most code reaches its steps in the order in which they began, and needs no map of them. */
  #takeKnown(key: string): Checkpoint | undefined {
    const next = this.#known[this.#cursor]
    if (next === undefined) return undefined
    if (this.#unreached === null && next.key === key) {
      this.#known[this.#cursor++] = undefined
      return next
    }
    this.#unreached ??= new Map(this.#rest.map((step) => [step.key, step]))
    const known = this.#unreached.get(key)
    if (known) this.#unreached.delete(key)
    return known
  }

  #withHash(savedWithStep: SavedWithStep | undefined): SavedWithStep | undefined {
    if (this.#codeHash === null) return savedWithStep
    const codeHash = this.#codeHash
    this.#codeHash = null
    return { ...savedWithStep, codeHash }
  }
}
