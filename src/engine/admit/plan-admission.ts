import type { AnyLimits, ConcurrencyOptions, KeyedRun, TimeoutOptions } from '../../author/limits.ts'
import { type AdmissionPlan, type Fold, type Gate, isPriority, MAX_PRIORITY } from '../../core/runs/admission.ts'
import type { RunCause } from '../../core/runs/claim.ts'
import { findTextFault } from '../../core/runs/step.ts'
import { isThenable } from '../../core/thenable.ts'
import { parseDuration } from '../../core/time.ts'
import { callAuthor } from './call-author.ts'
import type { Cause } from './read-cause.ts'

/** Facts about a run that asks to be admitted. */
export interface AdmissionFacts {
  createdAt: number
  /** When the run times out; null: never. */
  deadline: number | null
  /** True when the run's code has been called before. */
  hasStarted: boolean
  /** True when `where` let the run begin before. A preview asks no limit, but `where` at first. */
  isUnderWay: boolean
  /** True when the worker has a slot for it. */
  hasSlot: boolean
  /** True when the worker knows of no other run to claim, so that priorities change nothing. */
  isQueueEmpty: boolean
}

/** The arguments of keys and priorities. */
interface About {
  /** The event, tick or input. */
  seen: unknown
  account: string
}

/**
 * Calls the author's key and priority functions for one cause. Throws an error that names the
 * option whose function threw or returned the wrong type.
 */
export function planAdmission(
  limits: AnyLimits & { timeout?: TimeoutOptions },
  cause: Cause,
  kind: RunCause['kind'],
  facts: AdmissionFacts,
): AdmissionPlan {
  const { singleton, timeout } = limits
  const startBy = timeout?.start === undefined ? null : facts.createdAt + parseDuration(timeout.start, 'timeout.start')
  const { account, ...causes } = cause
  const [seen] = Object.values(causes)
  const about = { seen, account }
  return {
    priority: readPriority(limits, about),
    hasStarted: facts.hasStarted,
    startBy,
    wakeAt: facts.hasStarted ? facts.deadline : startBy,
    mayStart: facts.hasSlot && (facts.isQueueEmpty || facts.hasStarted || limits.priority === undefined),
    // An invoked run is never folded: its parent waits for its own result.
    fold: kind === 'event' ? planFold(limits, about) : null,
    onConflict: (singleton === true ? undefined : singleton?.onConflict) ?? 'skip',
    gates: planGates(limits, about),
  }
}

/** Events of different accounts are never folded: a run calls the service for one account. */
function planFold({ batch, debounce }: AnyLimits, about: About): Fold | null {
  const { account } = about
  if (batch) {
    const key = `${account}/${readKey('batch', batch, about)}`
    return { kind: 'batch', key, size: batch.size, waitMs: parseDuration(batch.wait, 'batch.wait') }
  }
  if (!debounce) return null
  const maxMs = debounce.max === undefined ? Number.MAX_SAFE_INTEGER : parseDuration(debounce.max, 'debounce.max')
  const key = `${account}/${readKey('debounce', debounce, about)}`
  return { kind: 'debounce', key, waitMs: parseDuration(debounce.wait, 'debounce.wait'), maxMs }
}

/** In the order in which a run takes its slots: limits per key before overall ones. */
function planGates({ singleton, throttle, concurrency }: AnyLimits, about: About): Gate[] {
  const gates: Gate[] = []
  if (singleton) {
    const key = readKey('singleton', singleton === true ? {} : singleton, about)
    gates.push({ name: 'singleton', key, most: 1, perMs: null })
  }
  if (throttle) {
    const key = readKey('throttle', throttle, about)
    gates.push({ name: 'throttle', key, most: throttle.limit, perMs: parseDuration(throttle.per, 'throttle.per') })
  }
  const places = listLimits(concurrency)
  for (const [index, limit] of places.entries()) {
    // The overall limit has the same name alone and beside one per key: both count the same runs.
    const isFirst = index === 0 && (limit.key !== undefined || places.length > 1)
    const name = isFirst ? 'concurrency-1' : 'concurrency-2'
    gates.push({ name, key: readKey('concurrency', limit, about), most: limit.limit, perMs: null })
  }
  return gates
}

function listLimits(concurrency: AnyLimits['concurrency']): readonly ConcurrencyOptions<never>[] {
  if (concurrency === undefined) return []
  const limits = 'limit' in concurrency ? [concurrency] : concurrency
  return limits.toSorted((a, b) => Number(b.key !== undefined) - Number(a.key !== undefined))
}

/** In UTF-16 units. A longer key is content, not a name. */
const MAX_KEY_LENGTH = 500

function readKey(
  option: string,
  { key }: { key?: (cause: never, run: KeyedRun) => string },
  { seen, account }: About,
): string {
  if (key === undefined) return ''
  const text: unknown = callAuthor(`the key of \`${option}\``, () => key(seen as never, { account }))
  const fault = typeof text === 'string' ? findTextFault(text) : null
  if (fault !== null) throw new Error(`the key of \`${option}\` ${fault}`)
  if (typeof text === 'string' && text.length <= MAX_KEY_LENGTH) return text
  const got = typeof text === 'string' ? `${text.length} characters` : describeType(text)
  throw new Error(
    `the key of \`${option}\` returned ${got}; it must return a string of at most ${MAX_KEY_LENGTH} characters`,
  )
}

function readPriority({ priority = 0 }: AnyLimits, { seen, account }: About): number {
  if (typeof priority === 'number') return priority
  const number: unknown = callAuthor('the function of `priority`', () => priority(seen as never, { account }))
  if (isPriority(number)) return number
  const got = typeof number === 'number' ? number : describeType(number)
  throw new Error(`\`priority\` returned ${got}; it must return an integer from -${MAX_PRIORITY} to ${MAX_PRIORITY}`)
}

function describeType(value: unknown): string {
  if (isThenable(value)) return 'a promise, though it must be synchronous'
  return value === null || value === undefined ? String(value) : `a value of type ${typeof value}`
}
