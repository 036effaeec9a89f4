import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeError, UpshotError } from '../../src/core/errors.ts'
import { newId } from '../../src/core/ids.ts'
import { matchType } from '../../src/core/incoming/event.ts'
import { parseEvent } from '../../src/core/incoming/parse-event.ts'
import { planRuns } from '../../src/core/incoming/route.ts'
import { decideRetry, RetryAt } from '../../src/core/runs/retry.ts'
import { decideDue, type Schedule } from '../../src/core/runs/schedule.ts'
import { type StepName, stepKeys } from '../../src/core/runs/step.ts'
import { parseDuration } from '../../src/core/time.ts'
import { finishSlices } from '../support/finish-slices.ts'

const anyMoment = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) })

describe('decideRetry', () => {
  const anyPolicy = fc.record({
    attempts: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constant(Number.POSITIVE_INFINITY)),
    minMs: fc.nat({ max: 60_000 }),
    maxMs: fc.nat({ max: 86_400_000 }),
  })
  const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const anyAttempt = fc.integer({ min: 1, max: 10_000 })

  test('decideRetry never schedules an attempt before now', () => {
    const anyError = fc.oneof(
      fc.anything(),
      fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true }).map((moment) => new RetryAt(moment)),
      fc.anything().map((retryAt) => Object.assign(new Error(), { retryAt })),
    )
    fc.assert(
      fc.property(anyError, anyAttempt, anyPolicy, anyMoment, anyRandom, (error, attempt, policy, now, random) => {
        const decision = decideRetry({ error, attempt, policy, now, random })
        if (decision.kind === 'retry') expect(decision.at).toBeGreaterThanOrEqual(now)
      }),
      { numRuns: 1_000 },
    )
  })

  test('decideRetry never retries before a moment that the error names', () => {
    fc.assert(
      fc.property(anyMoment, anyAttempt, anyPolicy, anyMoment, anyRandom, (named, attempt, policy, now, random) => {
        for (const error of [new RetryAt(named), Object.assign(new Error(), { retryAt: named })]) {
          const decision = decideRetry({ error, attempt, policy, now, random })
          if (decision.kind === 'retry') expect(decision.at).toBeGreaterThanOrEqual(named)
        }
      }),
    )
  })

  test('decideRetry pauses in proportion to chance, from zero up to a bound that doubles', () => {
    fc.assert(
      fc.property(anyAttempt, anyPolicy, anyMoment, anyRandom, (attempt, policy, now, random) => {
        fc.pre(attempt < policy.attempts)
        const decision = decideRetry({ error: new Error(), attempt, policy, now, random })
        const bound = policy.minMs === 0 ? 0 : Math.min(policy.maxMs, policy.minMs * 2 ** (attempt - 1))
        expect(decision).toEqual({ kind: 'retry', at: now + Math.round(bound * random), counts: true })
      }),
    )
  })
})

describe('stepKeys', () => {
  const anyName = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', '1', '2', ' ') })
  const anyKey = fc.oneof(
    fc.integer({ max: 3 }),
    fc.string({ maxLength: 4, unit: fc.constantFrom('a', '#', '[', ']', '2') }),
  )
  const anyStep: fc.Arbitrary<StepName> = fc.oneof(anyName, fc.tuple(anyName, anyKey))

  test('stepKeys gives each step of a pass its own key, and the same key in the next pass', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 40 }), (names) => {
        const keys = names.map(stepKeys())
        expect(new Set(keys).size).toBe(keys.length)
        expect(names.map(stepKeys())).toEqual(keys)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('newId', () => {
  test('ids sort by time', () => {
    fc.assert(
      fc.property(anyMoment, anyMoment, (one, other) => {
        const [a, b] = [newId('run', one), newId('run', other)]
        if (one !== other) expect(a < b).toBe(one < other)
      }),
    )
  })
})

describe('parseEvent', () => {
  const anyPart = fc.record(
    { id: fc.anything(), type: fc.anything(), created: fc.anything(), data: fc.anything() },
    { requiredKeys: [] },
  )
  test('parseEvent throws only UpshotError, for any input', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything({ withNullPrototype: true, withDate: true, withBigInt: true }), anyPart),
        (body) => {
          try {
            parseEvent(body)
          } catch (error) {
            expect(error).toBeInstanceOf(UpshotError)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

test('planRuns starts exactly the workflows with a matching route, each once', () => {
  const anyType = fc
    .array(fc.constantFrom('file', 'transfer', 'created'), { minLength: 1, maxLength: 3 })
    .map((words) => words.join('.'))
  const anyPattern = fc.oneof(
    anyType,
    anyType.map((type) => `${type}.*`),
    fc.constant('*'),
  )
  const anyRoutes = fc.array(fc.record({ eventType: anyPattern, workflow: fc.constantFrom('a', 'b', 'c') }))
  fc.assert(
    fc.property(anyType, anyRoutes, (type, routes) => {
      const planned = planRuns(type, routes)
      const meant = routes.filter((route) => matchType(route.eventType, type)).map((route) => route.workflow)
      expect(new Set(planned)).toEqual(new Set(meant))
      expect(planned).toHaveLength(new Set(meant).size)
    }),
  )
})

test('describeError describes any thrown value in texts of bounded length', () => {
  const anyThrown = fc.oneof(
    fc.anything({ withNullPrototype: true, withSparseArray: true }),
    fc
      .dictionary(fc.constantFrom('message', 'name', 'stack', 'code'), fc.anything())
      .map((part) => Object.assign(new Error(), part)),
  )
  fc.assert(
    fc.property(anyThrown, (thrown) => {
      const { name, message } = describeError(thrown)
      expect([typeof name, typeof message]).toEqual(['string', 'string'])
      expect(message.length).toBeLessThanOrEqual(2_000)
    }),
    { numRuns: 1_000 },
  )
})

test('parseDuration throws only UpshotError for a text that is no duration', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double()), (text) => {
      try {
        expect(parseDuration(text)).toBeGreaterThanOrEqual(0)
      } catch (error) {
        expect(error).toBeInstanceOf(UpshotError)
      }
    }),
  )
})

describe('decideDue', () => {
  const HOUR = 3_600_000
  const hourly = (after: number) => (Math.floor(after / HOUR) + 1) * HOUR
  const anySchedule: fc.Arbitrary<Schedule> = fc.record({
    expression: fc.constant('0 * * * *'),
    timezone: fc.constant('UTC'),
    catchUp: fc.constantFrom('skip', 'latest', 'all'),
    overlap: fc.constant('queue' as const),
    withinMs: fc.nat({ max: 48 * HOUR }),
  })
  const anyTime = fc.integer({ min: 0, max: 200 * HOUR })

  test('decideDue gives due moments in order, and counts all missed ones', () => {
    fc.assert(
      fc.property(anySchedule, anyTime, anyTime, (schedule, lastAt, now) => {
        const { ticks, missed } = finishSlices(decideDue(schedule, { lastAt, now, nextMoment: hourly }))
        const moments = ticks.map((tick) => tick.scheduledFor)
        expect(moments).toEqual([...new Set(moments)].sort((a, b) => a - b))
        for (const moment of moments) expect(moment > lastAt && moment <= now && moment % HOUR === 0).toBe(true)
        const passed = Math.max(0, Math.floor(now / HOUR) - Math.floor(lastAt / HOUR))
        expect(ticks.length + missed).toBe(passed)
        if (ticks.length > 0) expect(ticks.reduce((sum, tick) => sum + tick.missed, 0)).toBe(missed)
      }),
    )
  })
})
