import type { StepContext } from '../../author/steps/step-api.ts'
import { UpshotError } from '../../core/errors.ts'
import { deriveIdempotencyKey } from '../../core/ids.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { isThenable } from '../../core/thenable.ts'
import { after } from '../../core/time.ts'
import { quietly } from '../pass/own-work.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { type CurrentStep, runInStep } from '../pass/scope.ts'
import { LateRead, type LiveReads } from '../pass/step-stub.ts'

/**
 * Calls a step's function with a time limit. At the limit its signal aborts; a function that
 * ignores the signal is left running.
 */
export function withTimeout<T>(
  pass: Pass,
  step: Checkpoint,
  limitMs: number,
  fn: (context: StepContext, key: string) => T | Promise<T>,
): T | Promise<T> {
  const abort = new LazyAbort(pass.abort)
  const context: StepContext = {
    attempt: step.attempt,
    idempotencyKey: deriveIdempotencyKey(pass.run.lease.runId, step.key),
    get signal() {
      return abort.signal
    },
  }
  const { key, attempt, effect } = step
  const current: CurrentStep = { key, attempt, effect, now: pass.journal.now, draws: 0, isOver: false }
  const call = () => runInStep(pass, current, () => fn(context, key))
  const { runInSpan } = pass
  let isAsync = false
  try {
    const running = runInSpan ? runInSpan({ ...aboutRun(pass), step: key, attempt }, call) : call()
    isAsync = isThenable(running)
    return isThenable(running) ? limitTime(pass, step, limitMs, { running, abort, end: () => end(current) }) : running
  } finally {
    if (!isAsync) end(current)
  }
}

function end(current: CurrentStep): void {
  current.isOver = true
  current.onOver?.()
}

async function limitTime<T>(
  pass: Pass,
  step: Checkpoint,
  limitMs: number,
  { running, abort, end }: { running: Promise<T>; abort: LazyAbort; end: () => void },
): Promise<T> {
  const limit = Promise.withResolvers<never>()
  const live = findLive(pass, step)
  const ms = Math.min(limitMs, live?.longestMs ?? Infinity)
  const giveUp = () => {
    const message = `Step "${step.key}" did not finish within ${ms} ms.`
    const error = ms < limitMs ? new LateRead(message) : new UpshotError('step_timeout', message)
    limit.reject(error)
    abort.abort(error)
  }
  const cancel = quietly(() => after(live?.clock ?? pass.clock, ms, giveUp))
  const leave = live?.begin()
  try {
    return await Promise.race([running, limit.promise])
  } finally {
    cancel()
    leave?.()
    end()
  }
}

/** Null for a call of `files`, which the parent of a preview makes and bounds. */
function findLive({ stub }: Pass, { key }: Checkpoint): LiveReads | null {
  return key.startsWith('files.') ? null : (stub?.live ?? null)
}

/** Creates its signal when it is first read: most steps never do. */
class LazyAbort {
  readonly #parent: AbortController
  #own: AbortController | null = null
  #joined: AbortSignal | null = null

  constructor(parent: AbortController) {
    this.#parent = parent
  }

  get signal(): AbortSignal {
    this.#own ??= new AbortController()
    this.#joined ??= AbortSignal.any([this.#parent.signal, this.#own.signal])
    return this.#joined
  }

  abort(reason: unknown): void {
    // A signal that is first read after this must be aborted, too.
    this.#own ??= new AbortController()
    this.#own.abort(reason)
  }
}
