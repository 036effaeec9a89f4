import { describe, expect, it } from 'vitest'
import { SCHEME_PRESETS, type SignatureScheme, verifySignature } from '../../../src/core/incoming/signature.ts'
import { type Evidence, solveScheme } from '../../../src/core/solver/solve-scheme.ts'
import { CAUSES } from '../../../src/core/solver/suspects.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'
import { eventBody } from '../../support/fixtures.ts'
import { opensslMac } from '../../support/sign.ts'
import { BODY, bytes, hex, NOW, SECONDS, SECRET, signatureOf } from '../support/solver-fixtures.ts'

function solve(headers: Record<string, string>, part: Partial<Evidence> = {}) {
  return solveScheme({ headers, body: BODY, secrets: [SECRET], receivedAt: NOW, ...part })
}

/** Whether the receiver accepts the delivery under the scheme that was found. */
function accepts(scheme: SignatureScheme | null, headers: Record<string, string>, part: Partial<Evidence> = {}) {
  if (scheme === null) return false
  const { body = BODY, secrets = [SECRET] } = part
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return verifySignature(scheme, secrets, { header: (name) => lower.get(name), body }, NOW).kind === 'valid'
}

describe('solveScheme with openssl', () => {
  const algorithms = ['sha256', 'sha384', 'sha512', 'sha1'] as const
  const encodings = {
    hex: (mac: Buffer) => mac.toString('hex'),
    'hex-upper': (mac: Buffer) => mac.toString('hex').toUpperCase(),
    base64: (mac: Buffer) => mac.toString('base64'),
    base64url: (mac: Buffer) => mac.toString('base64url'),
  }
  const secrets = {
    utf8: { text: SECRET, key: Buffer.from(SECRET) },
    base64: { text: `whsec_${Buffer.alloc(32, 200).toString('base64')}`, key: Buffer.alloc(32, 200) },
    hex: { text: Buffer.alloc(32, 200).toString('hex'), key: Buffer.alloc(32, 200) },
  }
  const forms = Object.keys(secrets) as (keyof typeof secrets)[]
  const writings = Object.keys(encodings) as (keyof typeof encodings)[]
  const combinations = algorithms.flatMap((algorithm) =>
    writings.flatMap((encoding) => forms.map((secret) => ({ algorithm, encoding, secret }))),
  )

  it.each(combinations)('the solver finds $algorithm in $encoding with the secret as $secret', (scheme) => {
    const { text, key } = secrets[scheme.secret]
    const headers = { 'X-Service-Signature': encodings[scheme.encoding](opensslMac(scheme.algorithm, key, BODY)) }
    const solution = solve(headers, { secrets: [text] })
    expect(solution).toMatchObject({ kind: 'match', scheme: { ...scheme, grammar: 'plain', signed: 'body' } })
    if (solution.kind === 'match') expect(accepts(solution.scheme, headers, { secrets: [text] })).toBe(true)
  })

  const time = { 'X-Service-Timestamp': SECONDS }
  const id = { 'X-Service-Event-Id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' }
  it.each<[string, Record<string, string>, Partial<SignatureScheme>]>([
    ['a prefix', { 'X-Sig': `hmac-sha256=${hex(SECRET)}` }, { grammar: 'prefix', prefix: 'hmac-sha256=' }],
    ['pairs', { 'X-Sig': `t=${SECONDS},v1=${hex(SECRET, bytes(SECONDS, '.', BODY))}` }, SCHEME_PRESETS.timestamped],
    [
      'a timestamp in milliseconds',
      { 'X-Sig': hex(SECRET, bytes(`${NOW}`, '.', BODY)), 'X-Timestamp': `${NOW}` },
      { grammar: 'plain', signed: 'timestamp.body', timestampHeader: 'X-Timestamp', timestampUnit: 'ms' },
    ],
    [
      'milliseconds within the header',
      { 'X-Sig': `t=${NOW},v1=${hex(SECRET, bytes(`${NOW}`, '.', BODY))}` },
      { grammar: 'pairs', signed: 'timestamp.body', timestampUnit: 'ms' },
    ],
    [
      'pairs in quotes',
      { 'X-Sig': `t="${SECONDS}", signature="${hex(SECRET, bytes(SECONDS, '.', BODY))}"` },
      { grammar: 'pairs', signatureKey: 'signature', signed: 'timestamp.body' },
    ],
    [
      'pairs with names of their own',
      { 'X-Sig': `ts=${SECONDS};h1=${hex(SECRET, bytes(SECONDS, ':', BODY))}` },
      { grammar: 'pairs', signatureKey: 'h1', timestampKey: 'ts', signed: 'timestamp:body' },
    ],
    [
      'versions',
      { 'X-Sig': `v1,${opensslMac('sha256', SECRET, BODY).toString('base64')}` },
      { grammar: 'versions', encoding: 'base64' },
    ],
    [
      'a timestamp in a header of its own',
      { 'X-Sig': hex(SECRET, bytes(SECONDS, '.', BODY)), ...time },
      { signed: 'timestamp.body', timestampHeader: 'X-Service-Timestamp' },
    ],
    [
      'a timestamp that runs into the body',
      { 'X-Sig': hex(SECRET, bytes(SECONDS, BODY)), ...time },
      { signed: 'timestampbody' },
    ],
    [
      'a version before the timestamp',
      { 'X-Sig': `v0=${hex(SECRET, bytes('v0:', SECONDS, ':', BODY))}`, ...time },
      { grammar: 'prefix', prefix: 'v0=', signed: 'v0:timestamp:body' },
    ],
    [
      'an id and a timestamp',
      { 'X-Sig': hex(SECRET, bytes(id['X-Service-Event-Id'], '.', SECONDS, '.', BODY)), ...time, ...id },
      { signed: 'id.timestamp.body', idHeader: 'X-Service-Event-Id', timestampHeader: 'X-Service-Timestamp' },
    ],
  ])('the solver finds a scheme with %s', (_how, headers, scheme) => {
    const solution = solve(headers)
    expect(solution).toMatchObject({ kind: 'match', scheme: { ...scheme, header: 'X-Sig' } })
    if (solution.kind === 'match') expect(accepts(solution.scheme, headers)).toBe(true)
  })
})

describe('solveScheme with other libraries', () => {
  it('the solver prefers the signature that is harder to forge', () => {
    const headers = {
      'X-Hub-Signature': `sha1=${opensslMac('sha1', SECRET, BODY).toString('hex')}`,
      'X-Hub-Signature-256': `sha256=${hex(SECRET)}`,
    }
    expect(solve(headers)).toMatchObject({ kind: 'match', scheme: { header: 'X-Hub-Signature-256' } })
  })
})

const json = JSON.parse(BODY.toString())
const base64Secret = Buffer.alloc(32, 251).toString('base64')

describe('near matches', () => {
  const cases: [cause: (typeof CAUSES)[number], what: string, Record<string, string>, Partial<Evidence>][] = [
    ['missing_header', 'no header at all', {}, {}],
    ['missing_header', 'headers that hold no signature', { 'X-Request-Id': '1', 'X-Timestamp': SECONDS }, {}],
    [
      'stale_timestamp',
      'a delivery that was held up',
      { 'X-Sig': `t=${SECONDS},v1=${hex(SECRET, bytes(SECONDS, '.', BODY))}` },
      { receivedAt: NOW + 301_000 },
    ],
    [
      'old_secret',
      'a secret that has ended',
      signatureOf(BODY, 'the-secret-before-this-one'),
      {
        oldSecrets: ['an-even-older-one', 'the-secret-before-this-one'].map((value) => ({ value, until: NOW })),
      },
    ],
    ['secret_whitespace', 'a line break behind our secret', signatureOf(BODY), { secrets: [`${SECRET}\n`] }],
    ['secret_whitespace', 'a line break behind theirs', signatureOf(BODY, `${SECRET}\n`), {}],
    ['secret_whitespace', 'quotes around our secret', signatureOf(BODY), { secrets: [`"${SECRET}"`] }],
    ['secret_prefix', 'a prefix that is not signed with', signatureOf(BODY), { secrets: [`whsec_${SECRET}`] }],
    ['secret_prefix', 'a prefix that we lack', signatureOf(BODY, `whsec_${SECRET}`), {}],
    [
      'secret_misdecoded',
      'base64url',
      signatureOf(BODY, Buffer.alloc(32, 251)),
      {
        secrets: [Buffer.alloc(32, 251).toString('base64url')],
      },
    ],
    ['secret_misdecoded', 'a key encoded again', signatureOf(BODY, Buffer.from(SECRET).toString('base64')), {}],
    [
      'secret_misdecoded',
      'hex of base64',
      signatureOf(BODY, Buffer.alloc(32, 251).toString('hex')),
      {
        secrets: [base64Secret],
      },
    ],
    ['secret_truncated', 'a secret cut at their side', signatureOf(BODY, SECRET.slice(0, 20)), {}],
    ['secret_truncated', 'a beginning lost at their side', signatureOf(BODY, SECRET.slice(3)), {}],
    ['secret_truncated', 'a last character lost at ours', signatureOf(BODY), { secrets: [SECRET.slice(0, -1)] }],
    ['secret_truncated', 'a first character lost at ours', signatureOf(BODY), { secrets: [SECRET.slice(1)] }],
    ['body_newline', 'a line break added', signatureOf(BODY), { body: bytes(BODY, '\n') }],
    ['body_newline', 'a line break removed', signatureOf(bytes(BODY, '\r\n')), {}],
    ['body_newline', 'a byte order mark added', signatureOf(BODY), { body: bytes('\uFEFF', BODY) }],
    ['body_reserialised', 'a body made pretty', signatureOf(BODY), { body: bytes(JSON.stringify(json, null, 2)) }],
    ['body_reserialised', 'a pretty body made compact', signatureOf(bytes(JSON.stringify(json, null, 2))), {}],
    [
      'body_reserialised',
      'keys in another order',
      signatureOf(bytes('{"a":1,"b":{"c":2,"d":3}}')),
      {
        body: bytes('{"b":{"d":3,"c":2},"a":1}'),
      },
    ],
    ['body_reserialised', 'slashes unescaped', signatureOf(bytes(BODY.toString().replaceAll('/', '\\/'))), {}],
  ]

  it.each(cases)('the solver names the cause %s for %s', (cause, _what, headers, part) => {
    const solution = solve(headers, part)
    expect(solution).toMatchObject({ kind: 'near', cause, advice: expect.stringMatching(/^[A-Z].{30,}\.$/) })
    for (const secret of [SECRET, ...(part.secrets ?? [])]) expect(JSON.stringify(solution)).not.toContain(secret)
  })

  it('these tests have a case for each cause', () => {
    expect([...new Set(cases.map(([cause]) => cause))].sort()).toEqual([...CAUSES].sort())
  })

  it("the solver recognizes Python's JSON that was re-serialised on its way", () => {
    const python = bytes('{"id": "evt_1", "list": [1, 2, {}], "name": "Gr\\u00fc\\u00dfe"}')
    const body = bytes(JSON.stringify(JSON.parse(python.toString())))
    expect(solve(signatureOf(python), { body })).toMatchObject({ kind: 'near', cause: 'body_reserialised' })
  })

  it('the scheme of a near match verifies the delivery once the cause is fixed', () => {
    const headers = signatureOf(BODY, 'the-secret-before-this-one')
    const part = { secrets: ['the-secret-before-this-one'] }
    const solution = solve(headers, { oldSecrets: part.secrets.map((value) => ({ value, until: 0 })) })
    expect(solution.kind === 'near' && accepts(solution.scheme, headers, part)).toBe(true)
  })
})

describe('no match', () => {
  const headers = {
    ...signatureOf(BODY, 'a secret that nobody here knows'),
    'X-Timestamp': SECONDS,
    'X-Event-Id': 'evt_1',
  }

  it('an unsolvable delivery costs at least 200 combinations and under half a second', async () => {
    const large = bytes(eventBody('evt_1', 'file.created', { note: 'n'.repeat(900) }))
    let solution = solve(headers, { body: large })
    const ms = await cpuMsOf(() => {
      solution = solve(headers, { body: large })
    })
    expect(solution.kind).toBe('none')
    expect(solution.tried).toBeGreaterThanOrEqual(200)
    // About 30 ms, all suspects included.
    expect(ms).toBeLessThan(500)
  })

  it('headers and a body that a stranger made to cost much take less than two seconds', async () => {
    const mac = hex('a secret that nobody here knows')
    const many = Array.from({ length: 6 }, (_, n) => ({
      [`x-sig-${n}`]: mac,
      [`x-id-${n}`]: 'a',
      [`x-at-${n}`]: SECONDS,
    }))
    const costly = Object.assign({}, ...many)
    const parts = Object.entries<string>(costly).map(([name, value]) => [
      name,
      value === mac ? `${mac}${', '.repeat(2_000)}` : value,
    ])
    expect(await cpuMsOf(() => solve(Object.fromEntries(parts)))).toBeLessThan(2_000)
    const breaks = bytes(`${'\n'.repeat(100_000)}x`)
    expect(await cpuMsOf(() => solve(costly, { body: breaks }))).toBeLessThan(2_000)
    const [body, secrets] = [Buffer.alloc(1_048_576, 'n'), [SECRET, `${SECRET}-2`]]
    expect(await cpuMsOf(() => solve(costly, { body, secrets }))).toBeLessThan(2_000)
    // A quarter of a second, where a body of a few bytes is signed with each part of the secret.
    expect(solve(costly, { body: bytes('{}') }).tried).toBeLessThan(150_000)
  })

  it('an unsolvable delivery of a mebibyte is given up', () => {
    const body = bytes(eventBody('evt_1', 'file.created', { note: 'n'.repeat(1_048_576) }))
    const solution = solve(headers, { body })
    expect(solution).toMatchObject({ kind: 'none' })
  })

  it('hostile headers and bodies get an answer, never an error', () => {
    const hostile = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`x-sig-${n}-id`, n % 2 ? 'v1=,'.repeat(500) : `t=1,${'a'.repeat(64)}`]),
    )
    for (const body of [bytes('['.repeat(100_000)), bytes('['.repeat(100_000), ']'.repeat(100_000)), bytes('')]) {
      expect(['none', 'near']).toContain(solve({ ...hostile, 'X-Sig': 'é'.repeat(64), ...headers }, { body }).kind)
    }
    expect(solve(headers, { secrets: [] }).kind).toBe('none')
    expect(solve(headers, { secrets: [''] }).kind).toBe('none')
  })
})
