import type { Successor } from '../../core/runs/run.ts'
import type { Clock } from '../../core/time.ts'
import { OwnWork, type OwnWorkItem, quietly } from './own-work.ts'
import type { WaitHints } from './wait-hints.ts'

/** Why a pass ends before its run does. */
export type Park =
  | { kind: 'parked'; dueAt: number | null; reason: string; awaits?: readonly string[] }
  /** The process stops; any worker may go on with the run. */
  | { kind: 'released' }
  /** The run was canceled or taken over. */
  | { kind: 'lost' }
  /** The store failed, so that nothing can be decided here. */
  | { kind: 'broken'; error: unknown }

/**
 * An end of the code that its function does not give. `overdue`: the run timed out; `continued`:
 * another run goes on in its place.
 */
export type CodeEnd = { kind: 'threw' | 'overdue'; error: unknown } | { kind: 'continued'; successor: Successor }

interface ParkingParts {
  clock: Clock
  hints: WaitHints
  /** Hears of work outside steps that a pass does not wait for any longer. */
  tellPending?: (item: OwnWorkItem) => void
  /** Hears of timers that the code sets outside steps. */
  tellTimer?: ((item: OwnWorkItem) => void) | undefined
}

/** Real time between two looks at the waits of a pass at work. */
const LOOK_MS = 50
/** Real time for which work of the code's own may stand still before its pass parks. */
const STILL_MS = 250
/** Longest real time, in one pass, for which work of the code's own keeps it from parking. */
const LINGER_MS = 5_000

/**
 * Ends a pass once no step is at work. A wait that is over before that goes on in the pass; the
 * promises of others never settle. See decision 6.
 */
export class Parking {
  readonly ended: Promise<Park>
  /** Work of the code outside steps. The pass lingers for it before it parks. */
  readonly ownWork = new OwnWork()
  /** Resolves where the code ends without its function. */
  readonly codeEnded: Promise<CodeEnd>
  #end: (park: Park) => void = () => {}
  #endsCode: (end: CodeEnd) => void = () => {}
  #idle: (() => void) | null = null
  #activeSteps = 0
  #waits: Wait[] = []
  #cancelTimer = () => {}
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Hints that came before the last look. */
  #seenHints = -1
  #isLookPlanned = false
  #halt: string | null = null
  #isDraining = false
  #isOver = false
  #hasCodeEnded = false
  #isChecking = false
  #linger: Linger | null = null

  readonly #parts: ParkingParts

  constructor(parts: ParkingParts) {
    this.#parts = parts
    this.ownWork.onTimer = parts.tellTimer
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    this.codeEnded = new Promise((resolve) => {
      this.#endsCode = resolve
    })
  }

  /** True when no other step may begin in this pass. */
  get isClosed(): boolean {
    return this.#isOver || this.#isDraining || this.#halt !== null
  }

  /** True while a step's function or a read of the store is at work. */
  get isBusy(): boolean {
    return this.#activeSteps > 0
  }

  /** True once the author's function has returned or thrown. A step that comes later is a fault. */
  get hasCodeEnded(): boolean {
    return this.#hasCodeEnded
  }

  /** The author's function has returned or thrown: no other step may begin. */
  endCode(): void {
    this.#hasCodeEnded = true
    this.#close()
  }

  /** Ends the code as if its function had thrown this error. */
  failCode(error: unknown, kind: 'threw' | 'overdue' = 'threw'): void {
    this.#endsCode({ kind, error })
  }

  /** Ends the code here: another run goes on in its place. */
  continueAs(successor: Successor): void {
    this.#endsCode({ kind: 'continued', successor })
  }

  /** Resolves when no step is at work. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#activeSteps === 0) resolve()
      else this.#idle = resolve
    })
  }

  /** A step's function begins, or a read of the store that a step needs. */
  enterStep(): void {
    this.#activeSteps += 1
  }

  leaveStep(): void {
    this.#activeSteps -= 1
    if (this.#activeSteps === 0) this.#idle?.()
    this.#check()
  }

  /**
   * Parks the run until `dueAt`; null: until something else wakes it. Resolves where the pass is
   * still at work by then. `awaits`: the key of a step that an event or another run resolves.
   * `elsewhere`: no hint tells of that.
   */
  wait(dueAt: number | null, reason: string, awaits?: string, ends?: 'elsewhere'): Promise<void> {
    const looks = awaits !== undefined && ends === undefined
    return new Promise((wake) => {
      this.#waits.push({ dueAt, reason, awaits, looks, wake })
      this.#check()
    })
  }

  /** Lets steps that wait for an event or a run look for it, at most once in 50 ms. */
  look(): void {
    if (this.#isLookPlanned) return
    this.#isLookPlanned = true
    const look = () => {
      this.#isLookPlanned = false
      this.#lookedAt = performance.now()
      this.#seenHints = this.#parts.hints.count
      this.#wake(({ looks }) => looks)
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
  endPass(park: Extract<Park, { kind: 'lost' | 'broken' }>): Promise<never> {
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
    else if (this.#waits.length > 0) this.#finish(joinWaits(this.#waits))
    else if (this.#isDraining) this.#finish({ kind: 'released' })
  }

  /**
   * True while the code awaits something of its own, so that it may still come to a step. Bounded
   * by {@link STILL_MS} and {@link LINGER_MS}.
   */
  #lingers(): boolean {
    if (this.isClosed) return false
    const { pending, moves } = this.ownWork
    if (pending === null) return false
    const now = performance.now()
    this.#linger ??= { ms: 0, lookedAt: now, stillMs: 0, moves: -1 }
    const linger = this.#linger
    const passedMs = Math.min(now - linger.lookedAt, LOOK_MS)
    linger.ms += passedMs
    linger.stillMs = moves === linger.moves ? linger.stillMs + passedMs : 0
    linger.moves = moves
    linger.lookedAt = now
    if (linger.stillMs >= STILL_MS || linger.ms >= LINGER_MS) {
      this.#parts.tellPending?.(pending)
      return false
    }
    this.ownWork.onEnd = () => this.#check()
    clearTimeout(linger.timer)
    linger.timer = quietly(() => setTimeout(() => this.#check(), LOOK_MS / 2))
    return true
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

  #wake(isOver: (wait: Wait) => boolean): void {
    if (this.isClosed) return
    const over = this.#waits.filter(isOver)
    this.#waits = this.#waits.filter((wait) => !over.includes(wait))
    for (const { wake } of over) wake()
  }

  #close(): void {
    this.#isOver = true
    this.#cancelTimer()
    clearTimeout(this.#linger?.timer)
    this.ownWork.close()
    this.#parts.hints.delete(this)
  }

  #finish(park: Park): void {
    this.#close()
    this.#end(park)
  }
}

export function neverSettles(): Promise<never> {
  return new Promise(() => {})
}

/** How long the pass has lingered for work of the code's own. */
interface Linger {
  ms: number
  stillMs: number
  moves: number
  lookedAt: number
  timer?: NodeJS.Timeout
}

interface Wait {
  dueAt: number | null
  reason: string
  awaits: string | undefined
  /** True where a hint lets its step look whether it is over. */
  looks: boolean
  wake: () => void
}

/** The run wakes at the earliest moment, or when one of the awaited steps is resolved. */
function joinWaits(waits: readonly Wait[]): Park {
  const { dueAt, reason } = waits.reduce((first, wait) =>
    (wait.dueAt ?? Infinity) < (first.dueAt ?? Infinity) ? wait : first,
  )
  const awaits = waits.flatMap((wait) => wait.awaits ?? [])
  return { kind: 'parked', dueAt, reason, ...(awaits.length > 0 ? { awaits } : {}) }
}
