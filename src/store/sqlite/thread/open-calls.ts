import type { UpshotError } from '../../../core/errors.ts'
import { type Answer, decodeAnswer, numberOf } from './messages.ts'

/** A thread that answers no call for so long has stalled, as on a disk that does not answer. */
const STALL_MS = 60_000
/** Looks in which it is seen: one alone may come late, because this thread was blocked. */
const LOOKS = 4
/** Answers of one turn. Others come in between, which may be wanted first. */
const SLICE = 6

interface OpenCall {
  method: string
  isFirst: boolean
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

interface OpenCallsParts {
  /** Words for calls that get no answer, and why. */
  describeLoss: (why: string) => UpshotError
  /** Told when the thread has stalled, after its calls were rejected. */
  stalled?: () => void
  /** Told when no call waits any more. */
  emptied?: () => void
}

/** The calls to another thread that wait for an answer. */
export class OpenCalls {
  readonly #parts: OpenCallsParts
  readonly #open = new Map<number, OpenCall>()
  /** Answers that are not given yet, in their order. */
  #late: Answer[] = []
  #calls = 0
  #looks = 0
  #timer: NodeJS.Timeout | null = null

  constructor(parts: OpenCallsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#open.size
  }

  /**
   * Calls `send` with the number of the call, and resolves or rejects with its answer. `isFirst`:
   * its answer waits for no others.
   */
  add(method: string, send: (number: number) => void, isFirst = false): Promise<unknown> {
    const number = ++this.#calls
    if (this.#open.size === 0) this.#looks = 0
    this.#timer ??= setTimeout(() => this.#look(), STALL_MS / LOOKS).unref()
    return new Promise((resolve, reject) => {
      this.#open.set(number, { method, isFirst, resolve, reject })
      send(number)
    })
  }

  /**
   * Gives the answers of a message, in slices where some may be wanted first, and after those that
   * wait already.
   */
  settleAll(answers: readonly Answer[], inSlices: boolean): void {
    const isWaiting = this.#late.length > 0
    if (!inSlices && !isWaiting) {
      for (const answer of answers) this.settle(answer)
      return
    }
    for (const answer of answers) {
      if (this.#open.get(numberOf(answer))?.isFirst) this.settle(answer)
      else this.#late.push(answer)
    }
    if (!isWaiting) this.#settleSlice()
  }

  #settleSlice(): void {
    const slice = this.#late.slice(0, SLICE)
    this.#late = this.#late.slice(SLICE)
    for (const answer of slice) this.settle(answer)
    if (this.#late.length > 0) setImmediate(() => this.#settleSlice())
  }

  settle(answer: Answer): void {
    const { number, value, error } = decodeAnswer(answer)
    const call = this.#open.get(number)
    this.#open.delete(number)
    this.#looks = 0
    if (error) call?.reject(error)
    else call?.resolve(value)
    if (this.#open.size === 0) this.#parts.emptied?.()
  }

  /** Rejects all calls without an answer. */
  fail(why: string): void {
    for (const answer of this.#late.splice(0)) this.settle(answer)
    const calls = [...this.#open.values()]
    this.#open.clear()
    for (const { reject } of calls) reject(this.#parts.describeLoss(why))
  }

  #look(): void {
    this.#timer = null
    const [first] = this.#open.values()
    if (first === undefined) return
    this.#looks += 1
    if (this.#looks > LOOKS) {
      this.fail(`its thread has not answered for ${STALL_MS / 1_000} s, with ${first.method} first in line`)
      this.#parts.stalled?.()
    } else this.#timer = setTimeout(() => this.#look(), STALL_MS / LOOKS).unref()
  }
}
