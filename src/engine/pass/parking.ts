/** Why a pass ends before its run does. */
export type Park =
  | { kind: 'parked'; dueAt: number | null; reason: string; awaits?: readonly string[] }
  /** The process stops; anyone may go on at once. */
  | { kind: 'released' }
  /** The run was canceled or taken over. */
  | { kind: 'lost' }
  /** Its time as a whole is over. */
  | { kind: 'overdue'; error: unknown }
  /** The store cannot be written; nothing can be decided here. */
  | { kind: 'broken'; error: unknown }

/**
 * Ends a pass without throwing through the author's code, whose own `catch` would swallow it: a
 * step that has to wait gets a promise that never settles, and {@link ended} resolves once no other
 * step is at work.
 */
export class Parking {
  readonly ended: Promise<Park>
  #end: (park: Park) => void = () => {}
  #active = 0
  #waits: Wait[] = []
  #halt: string | null = null
  #isDraining = false
  #isOver = false
  #isChecking = false

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** True when no further step may begin in this pass. */
  get isClosed(): boolean {
    return this.#isOver || this.#isDraining || this.#halt !== null
  }

  /** A step's function begins … */
  enter(): void {
    this.#active += 1
  }

  /** … and is over. */
  leave(): void {
    this.#active -= 1
    this.#check()
  }

  /**
   * Waits for a moment, or without one: in this pass, for ever. `awaits` is the key of a step that
   * an event or another run resolves.
   */
  wait(dueAt: number | null, reason: string, awaits?: string): Promise<never> {
    this.#waits.push({ dueAt, reason, awaits })
    this.#check()
    return neverSettles()
  }

  /** Begins no other step, lets those at work finish, and leaves the run to a person. */
  halt(reason: string): Promise<never> {
    this.#halt ??= reason
    this.#check()
    return neverSettles()
  }

  /** Lets the steps at work finish and begins no other. */
  drain(): void {
    this.#isDraining = true
    this.#check()
  }

  /** Ends the pass at once. */
  abandon(park: Extract<Park, { kind: 'lost' | 'overdue' | 'broken' }>): Promise<never> {
    this.#finish(park)
    return neverSettles()
  }

  /**
   * One turn later, because the code behind a finished step may begin the next one in this turn.
   */
  #check(): void {
    if (this.#isChecking || this.#isOver || !this.#mayEnd()) return
    this.#isChecking = true
    setImmediate(() => {
      this.#isChecking = false
      if (this.#active > 0) return
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

/** The run goes on at the earliest moment, or when any step that awaits something is resolved. */
function joinWaits(waits: readonly Wait[]): Park {
  const { dueAt, reason } = waits.reduce((first, wait) =>
    (wait.dueAt ?? Infinity) < (first.dueAt ?? Infinity) ? wait : first,
  )
  const awaits = waits.flatMap((wait) => wait.awaits ?? [])
  return { kind: 'parked', dueAt, reason, ...(awaits.length > 0 ? { awaits } : {}) }
}
