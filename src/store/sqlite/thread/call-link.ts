import { describeError, type UpshotError } from '../../../core/errors.ts'
import type { LimitedRuns } from '../../limited-runs.ts'
import { type Answer, type Call, decodeAnswer, numberOf } from './messages.ts'

/** One end of a channel to a thread with a store: the thread's own, or a port of it. */
export interface CallChannel {
  postMessage(calls: Call[]): void
  on(event: 'message', listener: (answers: Answer[]) => void): unknown
}

interface LinkParts {
  /** Words for calls that get no answer, and why. */
  describeLoss: (why: string) => UpshotError
  /** The runs whose answers wait for no others. */
  limited?: Pick<LimitedRuns, 'hasCall' | 'isEmpty'>
  /** Told when the thread has stalled, after its calls were rejected. */
  stalled?: () => void
  /** Told when no call waits any more. */
  emptied?: () => void
}

/** A thread that answers no call for so long has stalled, as on a disk that does not answer. */
const STALL_MS = 60_000
/** Looks in which it is seen: one alone may come late, because this thread was blocked. */
const LOOKS = 4
/** Answers of one turn, where some may be wanted first. */
const SLICE = 6
/**
 * Calls per message. A full message is sent at once, so that the thread commits while a busy turn
 * still makes calls.
 */
const MAX_PER_MESSAGE = 12

interface OpenCall {
  method: string
  isFirst: boolean
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

/** The calls of this thread to another one, and their answers. */
export class CallLink {
  readonly #channel: CallChannel
  readonly #parts: LinkParts
  readonly #open = new Map<number, OpenCall>()
  #outbox: Call[] = []
  /** Answers that are not given yet, in their order. */
  #late: Answer[] = []
  /** Why later calls are refused; null: they are not. */
  #refusal: string | null = null
  #calls = 0
  #looks = 0
  #timer: NodeJS.Timeout | null = null
  readonly #ended = Promise.withResolvers<void>()

  constructor(channel: CallChannel, parts: LinkParts) {
    this.#channel = channel
    this.#parts = parts
    channel.on('message', (answers) => this.#receive(answers))
  }

  get size(): number {
    return this.#open.size
  }

  call(method: Call['method'], args: unknown[]): Promise<unknown> {
    if (this.#refusal !== null) return Promise.reject(this.#parts.describeLoss(this.#refusal))
    const number = ++this.#calls
    if (this.#open.size === 0) this.#looks = 0
    this.#timer ??= setTimeout(() => this.#look(), STALL_MS / LOOKS).unref()
    return new Promise((resolve, reject) => {
      this.#open.set(number, { method, isFirst: this.#parts.limited?.hasCall(args) ?? false, resolve, reject })
      this.#outbox.push({ number, method, args })
      if (this.#outbox.length === MAX_PER_MESSAGE) this.#send()
      else if (this.#outbox.length === 1) setImmediate(() => this.#send())
    })
  }

  /** Closes the thread's store, once all earlier calls are answered; later ones are refused. */
  async closeStore(): Promise<void> {
    if (this.#refusal !== null) return
    const answered = this.call('close', [])
    this.#refusal = 'it is closed'
    await answered
  }

  /** Resolves once all earlier calls are answered; later calls are refused. */
  async end(): Promise<void> {
    this.#refusal ??= 'it is closed'
    if (this.#open.size > 0) await this.#ended.promise
  }

  /** Rejects the calls that wait for an answer, and all later ones. */
  fail(why: string): void {
    this.#refusal ??= why
    this.#rejectAll(why)
  }

  #send(): void {
    const calls = this.#outbox
    if (calls.length === 0) return
    this.#outbox = []
    try {
      this.#channel.postMessage(calls)
    } catch {
      for (const call of calls) this.#sendAlone(call)
    }
  }

  /** After a message failed: only the call that cannot be cloned is rejected. */
  #sendAlone(call: Call): void {
    try {
      this.#channel.postMessage([call])
    } catch (cause) {
      const why = describeError(cause).message
      const message = `${call.method} was given a value that cannot be sent to a thread: ${why}`
      this.#settle({ number: call.number, error: { code: 'internal', message } })
    }
  }

  /** Gives the answers of a message, in slices where some may be wanted first. */
  #receive(answers: readonly Answer[]): void {
    const isWaiting = this.#late.length > 0
    const isSliced = isWaiting || this.#parts.limited?.isEmpty === false
    for (const answer of answers) {
      if (!isSliced || this.#open.get(numberOf(answer))?.isFirst) this.#settle(answer)
      else this.#late.push(answer)
    }
    if (!isWaiting) this.#settleSlice()
  }

  #settleSlice(): void {
    for (const answer of this.#late.splice(0, SLICE)) this.#settle(answer)
    if (this.#late.length > 0) setImmediate(() => this.#settleSlice())
  }

  #settle(answer: Answer): void {
    const number = numberOf(answer)
    const { value, error } = decodeAnswer(answer)
    const call = this.#open.get(number)
    this.#open.delete(number)
    this.#looks = 0
    if (error) call?.reject(error)
    else call?.resolve(value)
    if (this.#open.size === 0) this.#empty()
  }

  #rejectAll(why: string): void {
    for (const answer of this.#late.splice(0)) this.#settle(answer)
    const calls = [...this.#open.values()]
    this.#open.clear()
    for (const { reject } of calls) reject(this.#parts.describeLoss(why))
    this.#empty()
  }

  #empty(): void {
    if (this.#refusal !== null) this.#ended.resolve()
    this.#parts.emptied?.()
  }

  #look(): void {
    this.#timer = null
    const [first] = this.#open.values()
    if (first === undefined) return
    this.#looks += 1
    if (this.#looks > LOOKS) {
      this.#rejectAll(`its thread has not answered for ${STALL_MS / 1_000} s, with ${first.method} first in line`)
      this.#parts.stalled?.()
    } else this.#timer = setTimeout(() => this.#look(), STALL_MS / LOOKS).unref()
  }
}
