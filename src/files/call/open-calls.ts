import type { Caller } from '../../core/notices.ts'
import { parseAttempts, type RetryOptions } from '../../core/runs/retry.ts'
import type { CallLimits } from '../../core/service/files-api.ts'
import type { StorageName } from '../../core/service/storage.ts'
import { type Duration, parseDuration } from '../../core/time.ts'
import { AbortedError, type ErrorFacts, FilesError, type Operation } from '../errors.ts'
import type { Priority } from '../limit/limiter-store.ts'
import { type Call, factsOf } from './call.ts'
import type { ClientParts } from './client-parts.ts'
import type { ResendPolicy } from './decide-resend.ts'

/** Options of every call. */
export interface CallOptions extends CallLimits {
  /** Aborts the call at once, also during a pause. Default: nothing does. */
  signal?: AbortSignal
  /** Attempts and pauses of this call. Default: the client's `retry`. */
  retry?: RetryOptions
  /**
   * Bound of the whole call; for a download, of the time without any byte. Default:
   * `timeouts.total`.
   */
  timeout?: Duration
  /** Order among the calls that wait for the limit. Default: the client's `priority`. */
  priority?: Priority
  /** The step that makes the call, for log lines and `traceparent`. Default: none. */
  caller?: Caller | undefined
}

/** The part of a call that its log line names. */
interface Asked {
  operation: Operation
  service: StorageName
  id?: string
}

/** The calls that are open, each with its bounds in time, its log line and its errors. */
export class OpenCalls {
  readonly #parts: ClientParts
  readonly #stopping = new AbortController()
  readonly #shared = new SharedCalls()
  readonly #open = new Set<Promise<unknown>>()

  constructor(parts: ClientParts) {
    this.#parts = parts
  }

  /** Runs `work` as one call. */
  async run<T>(asked: Asked, options: CallOptions, work: (call: Call) => Promise<T>): Promise<T> {
    const call = this.#begin(asked, options)
    const done = this.#track()
    let outcome = 'ok'
    try {
      call.signal.throwIfAborted()
      return await work(call)
    } catch (thrown) {
      const error = toError(thrown, call.signal, factsOf(call))
      outcome = outcomeOf(error)
      throw error
    } finally {
      this.#report(asked, call, outcome)
      done()
    }
  }

  /**
   * The same for results that come one by one. The outcome is `left` when the caller stops early.
   */
  async *stream<T>(asked: Asked, options: CallOptions, work: (call: Call) => AsyncIterable<T>): AsyncGenerator<T> {
    const call = this.#begin(asked, options)
    const done = this.#track()
    let outcome = 'left'
    try {
      call.signal.throwIfAborted()
      yield* work(call)
      outcome = 'ok'
    } catch (thrown) {
      const error = toError(thrown, call.signal, factsOf(call))
      outcome = outcomeOf(error)
      throw error
    } finally {
      this.#report(asked, call, outcome)
      done()
    }
  }

  /** The same for a read. Equal reads at the same time share one call, at the first's priority. */
  async share<T>(asked: Asked, key: string, options: CallOptions, work: (call: Call) => Promise<T>): Promise<T> {
    const { signal = new AbortController().signal, caller, ...rest } = options
    const { operation, service } = asked
    try {
      return await this.#shared.join(JSON.stringify([operation, service, key, rest]), signal, (joint) =>
        this.run(asked, { ...rest, caller, signal: joint }, work),
      )
    } catch (thrown) {
      throw toError(thrown, signal, { operation, service })
    }
  }

  /** Aborts every call and refuses new ones; resolves when all have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.allSettled(this.#open)
  }

  #begin({ operation, service }: Asked, options: CallOptions): Call {
    const { settings } = this.#parts
    const startedAt = settings.clock.now()
    const totalMs = options.timeout === undefined ? settings.totalMs : parseDuration(options.timeout, 'timeout')
    const stopping = this.#stopping.signal
    return {
      operation,
      service,
      // A signal per call, so that its listeners are collected with the call.
      signal: AbortSignal.any(options.signal === undefined ? [stopping] : [stopping, options.signal]),
      priority: options.priority ?? settings.priority,
      startedAt,
      totalMs,
      deadlineAt: startedAt + totalMs,
      policy: policyOf(settings.retry, options.retry),
      caller: options.caller,
      attempts: [],
    }
  }

  #track(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#open.add(promise)
    return () => {
      this.#open.delete(promise)
      resolve()
    }
  }

  #report(asked: Asked, call: Call, outcome: string): void {
    const { clock } = this.#parts.settings
    const { attempts } = call
    const waitedMs = attempts.reduce((sum, each) => sum + each.waitedMs, 0)
    this.#parts.log({
      kind: 'call',
      ...asked,
      status: attempts.at(-1)?.status ?? null,
      ms: clock.now() - call.startedAt,
      attempts: attempts.length,
      waitedMs,
      ...(attempts.length > 1 || waitedMs > 0 ? { tries: attempts } : {}),
      outcome,
      ...(call.caller === undefined ? {} : { caller: call.caller }),
    })
  }
}

function policyOf(usual: ResendPolicy, { attempts, min, max }: RetryOptions = {}): ResendPolicy {
  return {
    attempts: attempts === undefined ? usual.attempts : parseAttempts(attempts, 'retry.attempts'),
    baseMs: min === undefined ? usual.baseMs : parseDuration(min, 'retry.min'),
    capMs: max === undefined ? usual.capMs : parseDuration(max, 'retry.max'),
    maxWaitMs: usual.maxWaitMs,
  }
}

function toError(thrown: unknown, signal: AbortSignal, facts: ErrorFacts): unknown {
  if (thrown instanceof FilesError || !signal.aborted) return thrown
  return new AbortedError('The call was aborted.', facts)
}

function outcomeOf(error: unknown): string {
  return error instanceof FilesError ? error.name : 'Error'
}

/** Runs equal calls at the same time once. A caller may leave without ending it for the others. */
class SharedCalls {
  readonly #running = new Map<string, Running>()

  /** Joins the running call of this key, or begins it. The last caller that leaves aborts it. */
  join<T>(key: string, signal: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const running = this.#running.get(key) ?? this.#begin(key, begin)
    running.callers++
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        running.callers--
        if (running.callers === 0) this.#abandon(key, running, signal.reason)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      running.result
        .then((value) => resolve(value as T), reject)
        .finally(() => signal.removeEventListener('abort', leave))
    })
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<unknown>): Running {
    const controller = new AbortController()
    const running: Running = { callers: 0, controller, result: begin(controller.signal) }
    this.#running.set(key, running)
    running.result.catch(() => {}).finally(() => this.#forget(key, running))
    return running
  }

  /** Forgets the call before it aborts: a new caller must not join a call that is ending. */
  #abandon(key: string, running: Running, reason: unknown): void {
    this.#forget(key, running)
    running.controller.abort(reason)
  }

  #forget(key: string, running: Running): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}

interface Running {
  callers: number
  controller: AbortController
  result: Promise<unknown>
}
