import type { Serializable } from 'node:child_process'
import { describeError, type Failure, UpshotError } from '../../../core/errors.ts'

/** The functions that a process offers to its parent or child, by name. */
export type Handlers = Record<string, (...given: never[]) => unknown>

/** A message between two processes or threads. Call 0 gets no answer. */
export type LinkMessage =
  | { call: number; name: string; given: unknown[] }
  | { answer: number; value: unknown }
  | { answer: number; error: SentError }

/** An error on its way, with what retries and authors read of it. */
interface SentError extends Failure {
  retryAt?: number | null
  retryable?: boolean
  details?: UpshotError['details']
}

interface Pending {
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** Calls between two processes or threads. Each side calls the handlers of the other. */
export class Link {
  readonly #post: (message: LinkMessage) => void
  readonly #handlers: Handlers
  readonly #pending = new Map<number, Pending>()
  #calls = 0
  #serving = 0
  /** Called when a message came, and when a handler has ended. */
  onMove = () => {}
  #end: unknown = null

  constructor(post: (message: LinkMessage) => void, handlers: Handlers) {
    this.#post = post
    this.#handlers = handlers
  }

  /** Rejects with the error of the handler, or with that of {@link end}. */
  call<T>(name: string, ...given: unknown[]): Promise<T> {
    if (this.#end !== null) return Promise.reject(this.#end)
    const call = ++this.#calls
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(call, { resolve, reject })
      this.#post({ call, name, given })
    })
  }

  /** Calls without an answer. Throws where the message cannot be sent. */
  tell(name: string, ...given: unknown[]): void {
    if (this.#end === null) this.#post({ call: 0, name, given })
  }

  /** True while a handler of this side is at work for the other. */
  get isServing(): boolean {
    return this.#serving > 0
  }

  receive(message: LinkMessage): void {
    this.#take(message)
    this.onMove()
  }

  #take(message: LinkMessage): void {
    if ('call' in message) return void this.#perform(message)
    const pending = this.#pending.get(message.answer)
    this.#pending.delete(message.answer)
    if ('error' in message) pending?.reject(revive(message.error))
    else pending?.resolve(message.value as never)
  }

  /** The other side is gone: calls under way and later ones reject. */
  end(error: unknown): void {
    this.#end ??= error
    for (const { reject } of this.#pending.values()) reject(this.#end)
    this.#pending.clear()
  }

  async #perform({ call, name, given }: Extract<LinkMessage, { call: number }>): Promise<void> {
    this.#serving += 1
    try {
      const handler = this.#handlers[name]
      if (!handler) throw new Error(`There is no handler "${name}".`)
      const value = await handler(...(given as never[]))
      if (call !== 0) this.#post({ answer: call, value })
    } catch (error) {
      if (call !== 0) this.#post({ answer: call, error: describeSent(error) })
    } finally {
      this.#serving -= 1
      this.onMove()
    }
  }
}

function describeSent(error: unknown): SentError {
  const { retryAt, retryable } = (error ?? {}) as { retryAt?: unknown; retryable?: unknown }
  return {
    ...describeError(error),
    ...(typeof retryAt === 'number' ? { retryAt } : {}),
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(error instanceof UpshotError ? { details: error.details } : {}),
  }
}

function revive({ name, message, details = {}, ...rest }: SentError): Error {
  const isOurs = name === 'UpshotError' && rest.code !== undefined
  if (isOurs) return new UpshotError(rest.code as UpshotError['code'], message, { details })
  return Object.assign(new Error(message), { ...rest, name })
}

/** A child, or this process as that of another one. */
interface Port {
  connected: boolean
  send?(message: Serializable, sent: () => void): unknown
}

/** Sends to another process. One that is gone gets nothing: its end is told by itself. */
export function postMessage(port: Port, message: Serializable): void {
  // Without a callback, a pipe that breaks meanwhile would end this process, too.
  if (port.connected) port.send?.(message, () => {})
}

interface Served {
  /** Called where the parent is gone. Default: this process ends. */
  gone?: () => void
  /** Default: that of this process. */
  send?: typeof process.send | undefined
}

/** Answers the calls of the parent of this process. The result calls the parent. */
export function serveParent(handlers: Handlers, { gone = () => process.exit(0), send }: Served = {}): Link {
  const port = send === undefined ? process : { connected: true, send }
  const link = new Link((message) => postMessage(port, message), handlers)
  process.on('message', (message: LinkMessage) => link.receive(message))
  process.on('disconnect', gone)
  // Signals of a terminal reach both processes; the parent ends this one.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  return link
}
