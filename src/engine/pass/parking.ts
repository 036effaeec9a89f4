/** Why a pass ends before its run does. */
export type Park =
  | { kind: 'parked'; dueAt: number | null; reason: string; awaits?: readonly string[] }
  /** The process stops; any worker may go on with the run. */
  | { kind: 'released' }
  /** The run was canceled or taken over. */
  | { kind: 'lost' }
  /** The run timed out. */
  | { kind: 'overdue'; error: unknown }
  /** The store failed, so that nothing can be decided here. */
  | { kind: 'broken'; error: unknown }

/**
 * Ends a pass once no step is at work. A step that has to wait gets a promise that never settles.
 * See decision 6.
 */
export class Parking {
  readonly ended: Promise<Park>
  /** Resolves with an error of the author's code that its function does not throw. */
  readonly failed: Promise<{ kind: 'threw'; error: unknown }>
  #end: (park: Park) => void = () => {}
  #fail: (failure: { kind: 'threw'; error: unknown }) => void = () => {}
  #idle: (() => void) | null = null
  #activeSteps = 0
  #waits: Wait[] = []
  #halt: string | null = null
  #isDraining = false
  #isOver = false
  #hasCodeEnded = false
  #isChecking = false

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    this.failed = new Promise((resolve) => {
      this.#fail = resolve
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
    this.#isOver = true
  }

  /** An error that nothing awaits ends the code as if its function had thrown it. */
  failCode(error: unknown): void {
    this.#fail({ kind: 'threw', error })
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
   * Parks the run until `dueAt`; null: until something else wakes it. `awaits` is the key of a step
   * that an event or another run resolves.
   */
  wait(dueAt: number | null, reason: string, awaits?: string): Promise<never> {
    this.#waits.push({ dueAt, reason, awaits })
    this.#check()
    return neverSettles()
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
  endPass(park: Extract<Park, { kind: 'lost' | 'overdue' | 'broken' }>): Promise<never> {
    this.#finish(park)
    return neverSettles()
  }

  /** Checks a turn later: code that awaited a finished step may begin the next one in this turn. */
  #check(): void {
    if (this.#isChecking || this.#isOver || !this.#mayEnd()) return
    this.#isChecking = true
    setImmediate(() => {
      this.#isChecking = false
      if (this.#activeSteps > 0) return
      if (this.#halt !== null) this.#finish({ kind: 'parked', dueAt: null, reason: this.#halt })
      else if (this.#waits.length > 0) this.#finish(joinWaits(this.#waits))
      else if (this.#isDraining) this.#finish({ kind: 'released' })
    })
  }

  #mayEnd(): boolean {
    return this.#isDraining || this.#waits.length > 0 || this.#halt !== null
  }

  #finish(park: Park): void {
    this.#isOver = true
    this.#end(park)
  }
}

export function neverSettles(): Promise<never> {
  return new Promise(() => {})
}

interface Wait {
  dueAt: number | null
  reason: string
  awaits: string | undefined
}

/** The run wakes at the earliest moment, or when one of the awaited steps is resolved. */
function joinWaits(waits: readonly Wait[]): Park {
  const { dueAt, reason } = waits.reduce((first, wait) =>
    (wait.dueAt ?? Infinity) < (first.dueAt ?? Infinity) ? wait : first,
  )
  const awaits = waits.flatMap((wait) => wait.awaits ?? [])
  return { kind: 'parked', dueAt, reason, ...(awaits.length > 0 ? { awaits } : {}) }
}
