import { describeError, UpshotError } from '../../../core/errors.ts'
import type { StoreWrites } from '../../../core/store/store.ts'
import { LimitedRuns } from '../../limited-runs.ts'
import type { Tables } from '../tables.ts'
import { createWriter } from '../writer.ts'
import { type Answer, type Call, type PackedCall, packCall, unpackCall } from './messages.ts'
import { OpenCalls } from './open-calls.ts'

/** One end of a channel to the writer thread: the thread's own, or a port for another thread. */
interface WriterChannel {
  postMessage(calls: PackedCall[]): void
  on(event: 'message', listener: (answers: Answer[]) => void): unknown
}

/**
 * Calls per message. A full message is sent at once, so that the thread commits while a busy turn
 * still makes calls.
 */
const MAX_PER_MESSAGE = 12

/** The calls of one thread to the writer thread, and their answers. */
export class WriterLink {
  readonly #channel: WriterChannel
  readonly #open = new OpenCalls({
    describeLoss,
    stalled: () => this.#answered(),
    emptied: () => this.#answered(),
  })
  readonly #limited = new LimitedRuns()
  #outbox: PackedCall[] = []
  #failure: Error | null = null
  #answered = () => {}

  constructor(channel: WriterChannel) {
    this.#channel = channel
    channel.on('message', (answers) => this.#open.settleAll(answers, !this.#limited.isEmpty))
  }

  call(method: Call['method'], args: unknown[]): Promise<unknown> {
    if (this.#failure) return Promise.reject(describeLoss(this.#failure.message))
    const send = (number: number) => {
      this.#outbox.push(packCall(number, method, args))
      if (this.#outbox.length === MAX_PER_MESSAGE) this.#send()
      else if (this.#outbox.length === 1) setImmediate(() => this.#send())
    }
    return this.#open.add(method, send, this.#limited.hasCall(args))
  }

  /** Closes the store itself, once all earlier calls are committed; later calls are refused. */
  async closeStore(): Promise<void> {
    if (this.#failure) return
    const answered = this.call('close', [])
    this.#failure = new Error('it is closed')
    await answered
  }

  /** Resolves once all earlier calls are answered; later calls are refused. */
  async end(): Promise<void> {
    this.#failure ??= new Error('it is closed')
    if (this.#open.size === 0) return
    await new Promise<void>((resolve) => {
      this.#answered = resolve
    })
  }

  /** Rejects the calls that wait for an answer, and all later ones. */
  fail(error: Error): void {
    this.#failure ??= error
    this.#open.fail(error.message)
    this.#answered()
  }

  /** Every write by its name. The names come from a writer that never runs. */
  writes(tables: Tables): StoreWrites {
    const names = Object.keys(createWriter(tables, { write: () => Promise.reject(new Error('read-only')) }))
    const calls = (names as Call['method'][]).map((name) => [name, (...args: unknown[]) => this.call(name, args)])
    return this.#limited.watchAll(Object.fromEntries(calls))
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
  #sendAlone(packed: PackedCall): void {
    try {
      this.#channel.postMessage([packed])
    } catch (cause) {
      const { number, method } = unpackCall(packed)
      const message = `${method} was given a value that cannot be sent to a thread: ${describeError(cause).message}`
      this.#open.settle({ number, error: { code: 'internal', message } })
    }
  }
}

function describeLoss(why: string): UpshotError {
  return new UpshotError('store_unavailable', `The store cannot be written: ${why}.`)
}
