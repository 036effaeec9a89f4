import type { StepContext } from '../../author/step-api.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { Pass } from '../pass/pass.ts'

/**
 * One attempt with its time limit. The signal says when to give up; a function that ignores it is
 * left behind.
 */
export function withTimeout<T>(
  pass: Pass,
  step: Checkpoint,
  limitMs: number,
  fn: (context: StepContext) => T | Promise<T>,
): T | Promise<T> {
  const abort = new LazyAbort(pass.abort.signal)
  const context: StepContext = {
    attempt: step.attempt,
    idempotencyKey: `${pass.run.lease.runId}/${step.key}`,
    get signal() {
      return abort.signal
    },
  }
  const running = fn(context)
  return isThenable(running) ? limitTime(pass, step, limitMs, { running, abort }) : running
}

async function limitTime<T>(
  pass: Pass,
  step: Checkpoint,
  limitMs: number,
  { running, abort }: { running: Promise<T>; abort: LazyAbort },
): Promise<T> {
  const limit = Promise.withResolvers<never>()
  const cancel = pass.clock.at(pass.clock.now() + limitMs, () => {
    const error = new UpshotError('step_timeout', `Step "${step.key}" did not finish within ${limitMs} ms.`)
    abort.abort(error)
    limit.reject(error)
  })
  try {
    return await Promise.race([running, limit.promise])
  } finally {
    cancel()
  }
}

export function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Most steps never look at their signal; it is made when one does. */
class LazyAbort {
  readonly #parent: AbortSignal
  #own: AbortController | null = null
  #joined: AbortSignal | null = null

  constructor(parent: AbortSignal) {
    this.#parent = parent
  }

  get signal(): AbortSignal {
    this.#own ??= new AbortController()
    this.#joined ??= AbortSignal.any([this.#parent, this.#own.signal])
    return this.#joined
  }

  abort(reason: unknown): void {
    // A late look at the signal must find it aborted, too.
    this.#own ??= new AbortController()
    this.#own.abort(reason)
  }
}
