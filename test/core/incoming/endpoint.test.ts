import { describe, expect, it } from 'vitest'
import { UpshotError } from '../../../src/core/errors.ts'
import {
  activeSecrets,
  currentSecret,
  decideRetirement,
  isStrongSecret,
  planEndpoint,
  planForgetting,
  planRetirement,
  planRotation,
  planScheme,
  positionOf,
  retiredSecrets,
} from '../../../src/core/incoming/endpoint.ts'
import { parseSecret, SCHEME_PRESETS } from '../../../src/core/incoming/signature.ts'
import { signatureScheme } from '../../../src/core/incoming/signature-scheme.ts'

const SECRET = 'a secret of a good 24 bytes'

describe('planEndpoint', () => {
  it('planEndpoint fills in everything that a user leaves out', () => {
    const endpoint = planEndpoint({ name: 'main', secret: SECRET }, 5)
    expect(endpoint).toMatchObject({
      name: 'main',
      account: 'default',
      events: ['*'],
      scheme: SCHEME_PRESETS.hex,
      secrets: [{ position: 0, value: SECRET, activeFrom: 5, until: null }],
      status: 'active',
      createdAt: 5,
    })
    expect(endpoint.id).toMatch(/^end_/)
    expect(endpoint.path).toMatch(/^main-[0-9a-z]{32}$/)
  })

  it.each(['', 'Main', '-main', 'a b', 'a/b', '../x', 'a'.repeat(41)])('planEndpoint refuses the name %j', (name) =>
    expect(() => planEndpoint({ name }, 0)).toThrow(/is not an endpoint name/),
  )

  it.each(['', 'short', 'x'.repeat(23), 'é'.repeat(11)])('planEndpoint refuses the weak secret %j', (secret) =>
    expect(() => planEndpoint({ name: 'main', secret }, 0)).toThrow(UpshotError),
  )

  it('the strength of a secret counts its bytes, not its characters', () => {
    expect(planEndpoint({ name: 'main', secret: 'é'.repeat(12) }, 0).secrets).toHaveLength(1)
  })

  it('an error about a secret never repeats it', () => {
    expect(() => planEndpoint({ name: 'main', secret: 'hunter2' }, 0)).toThrow(/^(?!.*hunter2)/)
  })

  it.each(['utf8', 'base64', 'hex'] as const)(
    'planEndpoint generates a secret that is a strong key as %s',
    (secret) => {
      const scheme = signatureScheme.parse({ secret })
      const { secrets } = planEndpoint({ name: 'main', scheme }, 0)
      expect(parseSecret(scheme, secrets[0]?.value ?? '')?.length).toBeGreaterThanOrEqual(24)
    },
  )

  it.each([
    ['hex', 'this text is long, but it is not hexadecimal'],
    ['base64', '!!! long, yet not base64 at all !!!'],
    ['hex', 'abcdef0123456789abcdef0123456789'],
  ] as const)('planEndpoint refuses as %s a secret whose key is weak or missing: %s', (form, secret) => {
    const scheme = signatureScheme.parse({ secret: form })
    expect(isStrongSecret(secret, scheme)).toBe(false)
    expect(() => planEndpoint({ name: 'main', secret, scheme }, 0)).toThrow(UpshotError)
  })
})

it('a secret is active until just before its last moment, whatever the clock says of its first', () => {
  const endpoint = planEndpoint({ name: 'main', secret: SECRET }, 0)
  endpoint.secrets = [
    { position: 0, value: 'old', activeFrom: 0, until: 100 },
    { position: 1, value: 'new', activeFrom: 50, until: null },
  ]
  expect([49, 50, 99, 100].map((now) => activeSecrets(endpoint, now))).toEqual([
    ['old', 'new'],
    ['old', 'new'],
    ['old', 'new'],
    ['new'],
  ])
})

describe('planRotation', () => {
  const endpoint = planEndpoint({ name: 'main', secret: 'the-first-secret-of-them-all' }, 1_000)
  const second = 'the-second-secret-of-them-all'

  it('a rotation keeps both secrets active for the overlap, then the new one only', () => {
    const rotated = planRotation(endpoint, second, { overlapMs: 500, now: 2_000 })
    expect(activeSecrets(rotated, 2_499)).toEqual(['the-first-secret-of-them-all', second])
    expect(activeSecrets(rotated, 2_500)).toEqual([second])
    expect(currentSecret(rotated)).toBe(second)
  })

  it('a rotation without overlap ends the old secret at once', () => {
    expect(activeSecrets(planRotation(endpoint, second, { overlapMs: 0, now: 2_000 }), 2_000)).toEqual([second])
  })

  it('a rotation never extends a secret that was to end sooner', () => {
    const once = planRotation(endpoint, second, { overlapMs: 100, now: 2_000 })
    const twice = planRotation(once, 'the-third-secret-of-them-all', { overlapMs: 1_000, now: 2_050 })
    expect(activeSecrets(twice, 2_099)).toHaveLength(3)
    expect(activeSecrets(twice, 2_100)).toEqual([second, 'the-third-secret-of-them-all'])
  })

  it('a rotation back to a valid secret keeps it once and without an end', () => {
    const back = planRotation(
      planRotation(endpoint, second, { overlapMs: 500, now: 2_000 }),
      'the-first-secret-of-them-all',
      { overlapMs: 500, now: 2_100 },
    )
    expect(activeSecrets(back, 9_999)).toEqual(['the-first-secret-of-them-all'])
  })

  it('a rotation refuses a weak secret', () => {
    expect(() => planRotation(endpoint, 'short', { overlapMs: 0, now: 2_000 })).toThrow(/shorter than 24 bytes/)
  })
})

describe('planRetirement', () => {
  const first = planEndpoint({ name: 'main', secret: 'the-first-secret-of-them-all' }, 1_000)
  const rotated = planRotation(first, 'the-second-secret-of-them-all', { overlapMs: 9_000, now: 2_000 })

  it('a retirement leaves only the newest secret active', () => {
    const retired = planRetirement(rotated, 2_001)
    expect(activeSecrets(retired, 2_001)).toEqual(['the-second-secret-of-them-all'])
    expect(retired.secrets.map(({ position, until }) => [position, until])).toEqual([
      [0, 2_001],
      [1, null],
    ])
  })

  it('a retired secret is kept for 30 days to explain refusals, and three of an endpoint at most', () => {
    const days = (count: number) => count * 86_400_000
    const retired = planRetirement(rotated, 2_001)
    expect(retiredSecrets(retired, 2_001).map(({ value }) => value)).toEqual(['the-first-secret-of-them-all'])
    expect(retiredSecrets(retired, 2_001 + days(30))).toEqual([])
    expect(planForgetting(retired, 2_000 + days(30))).toBe(retired)
    expect(planForgetting(retired, 2_001 + days(30)).secrets.map(({ position }) => position)).toEqual([1])
    const often = ['third', 'fourth', 'fifth', 'sixth'].reduce(
      (endpoint, name, index) =>
        planRotation(endpoint, `the-${name}-secret-of-them-all`, { overlapMs: 0, now: 3_000 + index }),
      retired,
    )
    expect(often.secrets.map(({ position }) => position)).toEqual([2, 3, 4, 5])
  })
})

it('the position of a secret is never given to another one', () => {
  const secrets = ['the-second-secret-of-them-all', 'the-third-secret-of-them-all', 'the-fourth-secret-of-them-all']
  const last = secrets.reduce(
    (endpoint, secret, index) => planRotation(endpoint, secret, { overlapMs: index * 1_000, now: index * 10 }),
    planEndpoint({ name: 'main' }, 0),
  )
  expect(last.secrets.map(({ position }) => position)).toEqual([0, 1, 2, 3])
  expect([0, 1, 2].map((index) => positionOf(last, index, 30))).toEqual([1, 2, 3])
  expect(positionOf(planRetirement(last, 30), 0, 30)).toBe(3)
})

it('planScheme refuses a scheme under which the newest secret is not a strong key', () => {
  const endpoint = planEndpoint({ name: 'main', secret: SECRET }, 0)
  expect(planScheme(endpoint, SCHEME_PRESETS.timestamped).scheme).toBe(SCHEME_PRESETS.timestamped)
  expect(() => planScheme(endpoint, SCHEME_PRESETS['standard-webhooks'])).toThrow(/not written as base64/)
  expect(() => planScheme(endpoint, SCHEME_PRESETS['standard-webhooks'])).toThrow(/^(?!.*a secret of a good)/)
})

it.each([
  ['safe', 3 * 3_600_000, 60_000],
  ['in_use', 60_000, 60_000],
  ['in_use', 3_600_000, null],
  ['newest_unused', 3 * 3_600_000, null],
  ['newest_unused', null, null],
  ['safe', null, 0],
] as const)(
  'decideRetirement says %s for an old secret used %s ms ago and a newest used %s ms ago',
  (decision, oldAgo, newestAgo) => {
    const now = 100 * 3_600_000
    const use = (ago: number | null) => ({ lastUsedAt: ago === null ? null : now - ago })
    expect(decideRetirement({ old: use(oldAgo), newest: use(newestAgo) }, now)).toBe(decision)
  },
)
