import type { Successor } from '../../core/runs/run.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { Clock } from '../../core/time.ts'
import { Lingering, OwnWork, type OwnWorkItem, quietly } from './own-work.ts'
import { joinWaits, type Park, type Wait, type WaitEnd, type WaitHints, type WaitingStep } from './wait.ts'

/** `overdue`: the run timed out; `continued`: another run goes on in its place. */
export type CodeEnd =
  | { kind: 'returned'; output: unknown }
  | { kind: 'threw' | 'overdue'; error: unknown }
  | { kind: 'continued'; successor: Successor }

interface ParkingParts {
  clock: Clock
  hints: WaitHints
  /** Keys of the steps whose wait is ended by an event, another run or people. */
  listEndedWaits: () => Promise<string[]>
  /** True once nothing may begin any more. */
  isOrphan?: (() => boolean) | undefined
  /** Hears of work outside steps that a pass does not wait for any longer. */
  reportPending?: (item: OwnWorkItem) => void
  /** Hears of timers that the code sets outside steps. */
  reportTimer?: ((item: OwnWorkItem) => void) | undefined
}

/** Real time between two looks at the waits of a pass at work. */
const LOOK_MS = 50

/**
 * Ends a pass once no step is at work. Promises of longer waits settle in a pass that goes on with
 * this one's code, or never. See decisions 6 and 65.
 */
export class Parking {
  /** Work of the code outside steps. The pass lingers for it before it parks. */
  readonly ownWork = new OwnWork()
  #ended = Promise.withResolvers<Park>()
  #stopped = Promise.withResolvers<CodeEnd | Park>()
  #idle: (() => void)[] = []
  #activeSteps = 0
  /** The steps whose functions are at work. */
  readonly atWork = new Set<Checkpoint>()
  #waits: Wait[] = []
  #cancelTimer = () => {}
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Hints that came before the last look. */
  #seenHints = -1
  #isLookPlanned = false
  #halt: string | null = null
  #isDraining = false
  #isOver = false
  /** True once the pass has ended, until another one goes on with it. */
  #hasEnded = false
  #isResting = false
  #hasCodeEnded = false
  #isChecking = false
  #lingering = new Lingering()

  readonly #parts: ParkingParts

  constructor(parts: ParkingParts) {
    this.#parts = parts
    this.ownWork.onTimer = parts.reportTimer
  }

  /** Resolves when the pass ends before its run does. */
  get ended(): Promise<Park> {
    return this.#ended.promise
  }

  /** Resolves when the pass or the author's code ends, whichever is first. */
  get stopped(): Promise<CodeEnd | Park> {
    return this.#stopped.promise
  }

  /** True when no other step may begin in this pass. */
  get isClosed(): boolean {
    return this.#isOver || this.#isDraining || this.#halt !== null || this.#parts.isOrphan?.() === true
  }

  /** True once the pass has ended. A step that is then at work has lost its lease. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** True while a step's function or a read of the store is at work. */
  get isBusy(): boolean {
    return this.#activeSteps > 0
  }

  /** True once the author's function has returned or thrown. A step that comes later is a fault. */
  get hasCodeEnded(): boolean {
    return this.#hasCodeEnded
  }

  /** True where the pass has parked for its waits, and its code had nothing else to do. */
  get isResting(): boolean {
    return this.#isResting
  }

  /** The author's function has returned or thrown: no other step may begin. */
  endCode(): void {
    this.#hasCodeEnded = true
    this.#close()
  }

  /** Ends the code with the first of its ends. */
  stop(end: CodeEnd): void {
    this.#stopped.resolve(end)
  }

  /** Makes a pass that rests the beginning of another, which nothing may begin in yet. */
  reopen(): void {
    this.#ended = Promise.withResolvers()
    this.#stopped = Promise.withResolvers()
    this.#hasEnded = false
    this.#isResting = false
    this.#lingering = new Lingering()
  }

  /** Goes on with a reopened pass: wakes the waits that are over, in the order of their steps. */
  goOn(): void {
    if (this.#hasEnded) return
    this.#isOver = false
    this.#seenHints = -1
    this.#waits.sort((one, other) => one.position - other.position)
    const now = this.#parts.clock.now()
    this.#wake(({ dueAt }) => dueAt !== null && dueAt <= now)
    if (this.#waits.some(({ awaits }) => awaits !== undefined)) void this.#wakeEnded()
    this.#check()
  }

  /** Resolves when no step is at work, and none has anything left to do at once. */
  async idle(): Promise<void> {
    do {
      if (this.#activeSteps > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
      // After all that can happen without an event.
      await new Promise<void>((resolve) => process.nextTick(resolve))
    } while (this.#activeSteps > 0)
  }

  /** A step's function begins, or a read of the store that a step needs. */
  enterStep(step?: Checkpoint): void {
    if (step) this.atWork.add(step)
    this.#activeSteps += 1
  }

  leaveStep(step?: Checkpoint): void {
    if (step) this.atWork.delete(step)
    this.#activeSteps -= 1
    if (this.#activeSteps === 0) for (const resolve of this.#idle.splice(0)) resolve()
    this.#check()
  }

  /**
   * Parks the run until `dueAt`; null: until something else wakes it. Resolves where the pass is
   * still at work by then, or once `ends` has come before.
   */
  wait({ key, position }: WaitingStep, dueAt: number | null, reason: string, ends?: WaitEnd): Promise<void> {
    const awaits = ends === undefined ? undefined : key
    return new Promise((wake) => {
      const isHinted = ends === 'event' || ends === 'answer'
      const asksPeople = ends === 'answer' || ends === 'decision'
      this.#waits.push({ position, dueAt, reason, awaits, asksPeople, looks: isHinted, wake })
      this.#check()
    })
  }

  /** Looks for steps whose wait an event or a run has ended, at most once in 50 ms. */
  look(): void {
    if (this.#isLookPlanned) return
    this.#isLookPlanned = true
    const look = () => {
      this.#isLookPlanned = false
      this.#lookedAt = performance.now()
      this.#seenHints = this.#parts.hints.count
      void this.#wakeEnded()
    }
    const pauseMs = this.#lookedAt + LOOK_MS - performance.now()
    if (pauseMs > 0) quietly(() => setTimeout(look, pauseMs))
    else look()
  }

  /** Begins no other step, lets those at work finish, and parks the run for a person. */
  halt(reason: string): Promise<never> {
    this.#halt ??= reason
    this.#check()
    return neverSettles()
  }

  /** Begins no other step and releases the run when those at work have finished. */
  drain(): void {
    this.#isDraining = true
    this.#check()
  }

  /** Ends the pass without waiting for the steps at work. */
  endPass(park: Extract<Park, { kind: 'lost' | 'released' | 'broken' }>): Promise<never> {
    this.#finish(park)
    return neverSettles()
  }

  /** Checks a turn later: code that awaited a finished step may begin the next one in this turn. */
  #check(): void {
    if (this.#isChecking || this.#isOver || !this.#mayEnd()) return
    this.#isChecking = true
    quietly(() => setImmediate(() => this.#endOrGoOn()))
  }

  #endOrGoOn(): void {
    this.#isChecking = false
    if (this.#activeSteps > 0 || this.#lingers()) this.#watchWaits()
    else if (this.#halt !== null) this.#finish({ kind: 'parked', dueAt: null, reason: this.#halt })
    else if (this.#waits.length > 0) this.#rest()
    else if (this.#isDraining) this.#finish({ kind: 'released' })
  }

  #rest(): void {
    this.#isResting = this.ownWork.pending === null
    this.#finish(joinWaits(this.#waits))
  }

  #lingers(): boolean {
    if (this.isClosed) return false
    return this.#lingering.goesOn(this.ownWork, () => this.#check(), this.#parts.reportPending)
  }

  #mayEnd(): boolean {
    return this.#isDraining || this.#waits.length > 0 || this.#halt !== null
  }

  /** Steps are at work: until they end, a wait that is over goes on in this pass. */
  #watchWaits(): void {
    const { clock, hints } = this.#parts
    this.#cancelTimer()
    if (this.isClosed || this.#waits.length === 0) return
    const dueAt = Math.min(...this.#waits.map((wait) => wait.dueAt ?? Infinity))
    if (dueAt < Infinity) this.#cancelTimer = quietly(() => clock.at(dueAt, () => this.#wakeDue()))
    if (!this.#waits.some(({ looks }) => looks)) return
    hints.add(this)
    if (hints.count !== this.#seenHints) this.look()
  }

  #wakeDue(): void {
    const now = this.#parts.clock.now()
    this.#wake(({ dueAt }) => dueAt !== null && dueAt <= now)
    this.#check()
  }

  async #wakeEnded(): Promise<void> {
    this.enterStep()
    try {
      const ended = new Set(await this.#parts.listEndedWaits())
      this.#wake(({ awaits }) => awaits !== undefined && ended.has(awaits))
    } catch (error) {
      void this.endPass({ kind: 'broken', error })
    } finally {
      this.leaveStep()
    }
  }

  #wake(isOver: (wait: Wait) => boolean): void {
    if (this.isClosed) return
    const { over = [], open = [] } = Object.groupBy(this.#waits, (wait) => (isOver(wait) ? 'over' : 'open'))
    this.#waits = open
    for (const { wake } of over) wake()
  }

  #close(): void {
    this.#isOver = true
    this.#cancelTimer()
    this.#lingering.stop()
    this.ownWork.close()
    this.#parts.hints.delete(this)
  }

  #finish(park: Park): void {
    this.#close()
    this.#hasEnded = true
    this.#ended.resolve(park)
    this.#stopped.resolve(park)
  }
}

export function neverSettles(): Promise<never> {
  return new Promise(() => {})
}
