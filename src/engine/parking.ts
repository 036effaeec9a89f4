/** Why a pass ends before its run does. */
export type Park =
  | { kind: 'parked'; dueAt: number | null; reason: string }
  /** The process stops; anyone may go on at once. */
  | { kind: 'released' }
  /** The run was canceled or taken over. */
  | { kind: 'lost' }
  /** The store cannot be written; nothing can be decided here. */
  | { kind: 'broken'; error: unknown }

/**
 * Ends a pass without throwing through the author's code, whose own `catch` would swallow it: a step that has to wait
 * gets a promise that never settles, and {@link ended} resolves once no other step is at work.
 */
export class Parking {
  readonly ended: Promise<Park>
  #end: (park: Park) => void = () => {}
  #active = 0
  #waits: { dueAt: number | null; reason: string }[] = []
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
    return this.#isOver || this.#isDraining
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

  /** Waits for a moment, or for a person (null): in this pass, for ever. */
  wait(dueAt: number | null, reason: string): Promise<never> {
    this.#waits.push({ dueAt, reason })
    this.#check()
    return never()
  }

  /** Lets the steps at work finish and begins no other. */
  drain(): void {
    this.#isDraining = true
    this.#check()
  }

  /** Ends the pass at once. */
  abandon(park: Extract<Park, { kind: 'lost' | 'broken' }>): Promise<never> {
    this.#finish(park)
    return never()
  }

  /** One turn later, because the code behind a finished step may begin the next one in this turn. */
  #check(): void {
    if (this.#isChecking || this.#isOver || !(this.#isDraining || this.#waits.length > 0)) return
    this.#isChecking = true
    setImmediate(() => {
      this.#isChecking = false
      if (this.#active > 0) return
      if (this.#waits.length > 0) this.#finish({ kind: 'parked', ...earliest(this.#waits) })
      else if (this.#isDraining) this.#finish({ kind: 'released' })
    })
  }

  #finish(park: Park): void {
    this.#isOver = true
    this.#end(park)
  }
}

export function never(): Promise<never> {
  return new Promise(() => {})
}

function earliest(waits: readonly { dueAt: number | null; reason: string }[]): {
  dueAt: number | null
  reason: string
} {
  return waits.reduce((first, wait) => ((wait.dueAt ?? Infinity) < (first.dueAt ?? Infinity) ? wait : first))
}
