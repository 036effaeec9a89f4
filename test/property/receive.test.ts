import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS, type SchemePreset, signBody } from '../../src/core/incoming/signature.ts'
import { eventBody, NOW } from '../support/fixtures.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const PRESETS = Object.keys(SCHEME_PRESETS) as SchemePreset[]
const secretOf = (preset: SchemePreset) =>
  preset === 'standard-webhooks' ? `whsec_${Buffer.from(SECRET).toString('base64')}` : SECRET

/** One change to a correctly signed request. */
type Mutation = { what: 'body' | 'header' | 'secret' | 'extra'; at: number; by: number; text: string }
const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  what: fc.constantFrom('body', 'header', 'secret', 'extra'),
  at: fc.nat(),
  by: fc.integer({ min: 1, max: 255 }),
  text: fc.oneof(
    fc.constantFrom('', ' ', 'v1=', 't=0', 'v1,', 'null', '[object Object]', 'sha256=', '=', ','),
    fc.stringMatching(/^[\x20-\x7e\xa0-\xff]{0,80}$/),
  ),
})

interface Sent {
  headers: Record<string, string | string[]>
  body: Buffer
}

function sign(preset: SchemePreset, secret: string, n: number): Sent {
  const body = Buffer.from(eventBody(`evt_forged_${n}`))
  const headers = signBody(SCHEME_PRESETS[preset], secret, { id: `msg_${n}`, body }, NOW)
  return { headers: { 'Content-Type': 'application/json', ...headers }, body }
}

/** Null if the change leaves the request as it was. */
function mutate(preset: SchemePreset, n: number, { what, at, by, text }: Mutation): Sent | null {
  if (what === 'secret') {
    const secret = Buffer.from(SECRET)
    secret[at % secret.length] = (secret[at % secret.length] ?? 0) ^ (by % 32 || 1)
    const forged = preset === 'standard-webhooks' ? `whsec_${secret.toString('base64')}` : secret.toString('latin1')
    return sign(preset, forged, n)
  }
  const { headers, body } = sign(preset, secretOf(preset), n)
  if (what === 'body') {
    body[at % body.length] = (body[at % body.length] ?? 0) ^ by
    return { headers, body }
  }
  const names = Object.keys(headers).filter((name) => name !== 'Content-Type')
  const name = names[at % names.length] ?? ''
  const value = String(headers[name])
  if (what === 'extra') return { headers: { ...headers, [name]: [value, text] }, body }
  return value.trim() === text.trim() ? null : { headers: { ...headers, [name]: text }, body }
}

test('the receiver accepts no forgery and answers none with 5xx, over real HTTP', async () => {
  const { store, url, heard } = await createTestReceiver()
  const paths = new Map<SchemePreset, string>()
  for (const preset of PRESETS) {
    const endpoint = planEndpoint({ name: preset, secret: secretOf(preset), scheme: SCHEME_PRESETS[preset] }, NOW)
    await store.addEndpoint(endpoint)
    paths.set(preset, `${url}/hooks/${endpoint.path}`)
  }
  const deliver = (preset: SchemePreset, { headers, body }: Sent) =>
    new Promise<number>((resolve, reject) => {
      const options = { method: 'POST', agent: false, headers: { ...headers, 'Content-Length': body.length } } as const
      request(paths.get(preset) ?? '', options, (response) => {
        text(response).then(() => resolve(response.statusCode ?? 0), reject)
      })
        .on('error', reject)
        .end(body)
    })
  let n = 0
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...PRESETS), anyMutation, async (preset, mutation) => {
      n += 1
      const sent = mutate(preset, n, mutation)
      fc.pre(sent !== null)
      expect([400, 401]).toContain(await deliver(preset, sent))
    }),
    { numRuns: 300 },
  )
  expect(await store.listEvents({ limit: 1 })).toEqual([])
  expect(heard.filter((notice) => notice.kind === 'fault')).toEqual([])
  // The same requests are accepted unchanged.
  for (const preset of PRESETS) {
    n += 1
    expect(await deliver(preset, sign(preset, secretOf(preset), n))).toBe(200)
  }
}, 60_000)
