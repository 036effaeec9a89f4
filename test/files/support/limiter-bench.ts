import { ManualClock } from '../../../src/core/time.ts'
import { type LimiterStore, memoryLimiterStore, type Priority } from '../../../src/files/index.ts'
import { Limiter } from '../../../src/files/limit/limiter.ts'

const FACTS = { operation: 'get', service: 'storage_a' } as const

/** The report of a request that was answered without a word about the limit. */
export const ANSWERED = { isProbe: false, isAnswered: true, blockedUntil: null, limit: null }

interface Ticket {
  priority?: Priority
  isFollowed?: boolean
  maxWaitMs?: number
  signal?: AbortSignal
}

/** A limiter of three requests per minute whose starts are recorded by name. */
export function makeLimiter(
  options: { perMinute?: number; isFinal?: boolean; burst?: number; store?: LimiterStore; clock?: ManualClock } = {},
) {
  const {
    perMinute = 3,
    isFinal = true,
    burst = null,
    store = memoryLimiterStore(),
    clock = new ManualClock(),
  } = options
  const limiter = new Limiter({ key: 'ab', store, clock, limit: { perMinute, isFinal, burst } })
  const starts: { name: string; at: number; isProbe: boolean }[] = []
  const enter = (name: string, ticket: Ticket = {}) =>
    limiter
      .enter({
        priority: ticket.priority ?? 'workflow',
        isFollowed: ticket.isFollowed,
        signal: ticket.signal ?? new AbortController().signal,
        latestAt: clock.now() + (ticket.maxWaitMs ?? 1e9),
        facts: FACTS,
        onWait: () => {},
      })
      .then(({ isProbe, keptAt }) => {
        starts.push({ name, at: clock.now(), isProbe })
        return keptAt
      })
  const names = () => starts.map((start) => start.name).join('')
  return { limiter, clock, store, starts, names, enter }
}
