import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import supertest from 'supertest'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { callbackUrl, type Hook, maskTokens } from '../../../src/core/incoming/hook.ts'
import { SCHEME_PRESETS, type SignatureScheme } from '../../../src/core/incoming/signature.ts'
import type { JsonValue } from '../../../src/core/json.ts'
import { claimLease } from '../../contract/support/waiting-runs.ts'
import { checkpoint, NOW } from '../../support/fixtures.ts'
import { opensslHmac, opensslMac } from '../../support/sign.ts'
import { createTestReceiver } from '../../support/test-receiver.ts'

const HOUR = 3_600_000
const VERDICT: JsonValue = {
  type: 'object',
  properties: { verdict: { type: 'string', enum: ['clean', 'infected'] } },
  required: ['verdict'],
}
const CLEAN = JSON.stringify({ verdict: 'clean' })
const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** The real receiver, and a run with one open hook. */
async function openCallback(part: Partial<Hook> = {}, parts: Parameters<typeof createTestReceiver>[0] = {}) {
  const receiver = await createTestReceiver(parts)
  const { store, url, heard, clock } = receiver
  const id = 'hok_0123456789abcdefghjkmnpqrs'
  const lease = await claimLease(store)
  const hook = {
    id,
    account: 'default',
    ask: null,
    data: VERDICT,
    isMany: false,
    sign: null,
    openedAt: NOW,
    expiresAt: NOW + HOUR,
    ...part,
  }
  await store.saveCheckpoint(lease, checkpoint('scan', { kind: 'hook', effect: 'read', target: id }), undefined, {
    hook,
  })
  const address = callbackUrl({ origin: url, key: await store.loadHookKey() }, id)
  const path = new URL(address).pathname
  const send = (body: string, headers: Record<string, string> = JSON_TYPE, to = path) =>
    supertest(url)
      .post(to)
      .set(headers)
      .serialize((content) => content as string)
      .send(body)
  const told = async () => {
    await receiver.receiver.drain()
    await receiver.receiver.stop()
    return (await store.listDeliveries({ limit: 99 })).filter(({ endpointId }) => endpointId === null)
  }
  return { store, url, heard, clock, lease, id, path, address, send, told }
}

/** Every byte that the database has on disk. */
const bytesOf = (folder: string) =>
  ['upshot.db', 'upshot.db-wal'].map((name) => readFileSync(join(folder, name), 'latin1')).join('')

test('an answer is 200 once it is committed; the same bytes again change nothing, others are 409', async () => {
  const { send, store, lease, told } = await openCallback()
  const first = await send(CLEAN)
  expect(first.status).toBe(200)
  expect(first.body).toMatchObject({ success: true, data: { verdict: 'accepted' } })
  expect((await send(CLEAN)).body).toMatchObject({ success: true, data: { verdict: 'duplicate' } })
  for (const other of [JSON.stringify({ verdict: 'infected' }), `${CLEAN} `, '{}'])
    expect((await send(other)).status).toBe(409)
  expect(await store.listHooks(lease.runId)).toMatchObject([{ answers: 1 }])
  const deliveries = await told()
  expect(deliveries.map(({ verdict }) => verdict).sort()).toEqual([
    'accepted',
    'answered',
    'answered',
    'answered',
    'duplicate',
  ])
  for (const { facts } of deliveries) expect(facts).toMatchObject({ run: lease.runId, step: 'scan' })
})

test('after its time an answer is 410, after the end of the run too, but for the one that was taken', async () => {
  const late = await openCallback()
  late.clock.advance('1h')
  expect((await late.send(CLEAN)).status).toBe(410)
  const ended = await openCallback()
  expect((await ended.send(CLEAN)).status).toBe(200)
  await ended.store.completeRun(ended.lease, 'null', NOW)
  // A sender that never heard our answer repeats it.
  expect((await ended.send(CLEAN)).status).toBe(200)
  expect((await ended.send(JSON.stringify({ verdict: 'infected' }))).status).toBe(410)
})

test('data that does not fit is 422 with its places, and the hook stays open', async () => {
  const { send, told } = await openCallback()
  const misfit = await send(JSON.stringify({ verdict: 'maybe' }))
  expect(misfit.status).toBe(422)
  expect(misfit.body.error.details.faults).toMatchObject([{ at: 'verdict' }])
  expect((await send('{"verdict":"clean","verdict":"infected"}')).status).toBe(400)
  expect((await send('{"verdict":')).status).toBe(400)
  const unknown = await send('<verdict/>', { 'Content-Type': 'application/xml' })
  expect(unknown.status).toBe(415)
  expect(unknown.body.error.message).toMatch(/JSON, a form .*, or text/)
  expect((await send(CLEAN)).status).toBe(200)
  expect((await told()).map(({ verdict }) => verdict).sort()).toEqual([
    'accepted',
    'bad_json',
    'bad_json',
    'misfit',
    'wrong_type',
  ])
})

test.each([
  ['a form', VERDICT, 'verdict=clean', FORM_TYPE, { verdict: 'clean' }],
  [
    'a form with numbers and choices',
    { type: 'object', properties: { n: { type: 'number' }, ok: { type: 'boolean' }, to: { type: 'array' } } },
    'n=7&ok=on&to=a&to=b&__proto__=x',
    FORM_TYPE,
    { n: 7, ok: true, to: ['a', 'b'], ['__proto__']: 'x' },
  ],
  [
    'a form with one choice of a list, and a list of numbers',
    {
      type: 'object',
      properties: { to: { type: 'array', items: { type: 'string' } }, n: { type: 'array', items: { type: 'number' } } },
    },
    'to=a&n=1&n=2.5',
    FORM_TYPE,
    { to: ['a'], n: [1, 2.5] },
  ],
  ['text', { type: 'string' }, 'all is well', { 'Content-Type': 'text/plain; charset=utf-8' }, 'all is well'],
  ['any JSON', null, '[1,{"n":12345678901234567890}]', JSON_TYPE, [1, { n: Number('12345678901234567890') }]],
])('%s is an answer', async (_name, data, body, type, expected) => {
  const { send, store, lease } = await openCallback({ data: data as JsonValue })
  expect((await send(body, type)).status).toBe(200)
  const [event] = await store.listEvents({ limit: 1 })
  expect(JSON.parse(event?.body ?? '').data).toMatchObject({ run: lease.runId, data: expected })
  if (type === JSON_TYPE) expect(event?.body).toContain(body)
})

test('an unknown token is 404 without a look into the database, whatever of it is right', async () => {
  const { send, store, path, told } = await openCallback()
  let looks = 0
  const findHook = store.findHook
  store.findHook = (id) => {
    looks += 1
    return findHook(id)
  }
  const turned = path.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  for (const to of [
    turned,
    path.slice(0, -1),
    `${path}0`,
    '/callbacks/x',
    '/callbacks/',
    path.toUpperCase().replace('/CALLBACKS/', '/callbacks/'),
  ])
    expect((await send(CLEAN, JSON_TYPE, to)).status).toBe(404)
  expect(looks).toBe(0)
  expect((await send(CLEAN)).status).toBe(200)
  expect((await told()).filter(({ verdict }) => verdict === 'unknown_hook')).toHaveLength(6)
})

test('a page that cannot be read is answered 503, and its fault is told', async () => {
  const { url, path, store, heard } = await openCallback()
  await store.close()
  expect((await supertest(url).get(path)).status).toBe(503)
  expect(heard).toContainEqual(expect.objectContaining({ kind: 'fault', where: 'the page of a callback' }))
})

test('a visit decides nothing: it shows what is asked, and a button that needs no script', async () => {
  const { url, path, store, lease, send } = await openCallback({ ask: 'Release <batch 7>?' })
  for (const method of ['get', 'head'] as const) {
    const page = await supertest(url)[method](path)
    expect(page.status).toBe(200)
    expect(page.headers).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/,
      ),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
  }
  const { text } = await supertest(url).get(path)
  expect(text).toContain('Release &lt;batch 7&gt;?')
  expect(text).toContain('<button name="verdict" value="clean">clean</button>')
  expect(text).not.toContain('<script')
  expect(await store.listHooks(lease.runId)).toMatchObject([{ answers: 0 }])
  const pressed = await send('verdict=clean', { ...FORM_TYPE, Accept: 'text/html,*/*' })
  expect([pressed.status, pressed.text]).toEqual([200, expect.stringContaining('Your answer was taken.')])
  expect(pressed.headers['content-security-policy']).toContain("default-src 'none'")
  expect((await supertest(url).get(path)).status).toBe(410)
  expect((await supertest(url).get('/callbacks/none')).status).toBe(404)
})

const REVIEW = z.object({
  verdict: z.enum(['clean', 'infected']).describe('What did you find?'),
  size: z.number(),
  sure: z.boolean().optional(),
  next: z.enum(['keep', 'delete']).optional(),
  mail: z.email().optional(),
  more: z.array(z.string()).optional(),
})

test('a form that is no UTF-8 is refused, and a replacement character of the sender is taken', async () => {
  const { send } = await openCallback({ data: { type: 'object' } })
  for (const form of ['verdict=%ff', 'a=1&%c3=2']) expect((await send(form, FORM_TYPE)).status).toBe(400)
  expect((await send('verdict=%EF%BF%BD&share=100%', FORM_TYPE)).status).toBe(200)
})

test('a form of very many fields is refused at once, like such JSON', async () => {
  const { send } = await openCallback({ data: null })
  const form = Array.from({ length: 200_000 }, (_, at) => at.toString(36)).join('&')
  const answer = await send(form, FORM_TYPE)
  const error = { message: 'The body has more than 10000 fields.' }
  expect([answer.status, answer.body]).toMatchObject([400, { error }])
})

test('a page asks for each field that a form can have, and an optional one may stay empty', async () => {
  const data = JSON.parse(JSON.stringify(z.toJSONSchema(REVIEW, { io: 'input' })))
  const { url, path, store, send } = await openCallback({ ask: 'Is it clean?', data })
  const { text } = await supertest(url).get(path)
  const [, ...fields] = text.split('<label>').map((part) => part.replace(/<\/label>.*/, ''))
  const choices = (...all: string[]) => all.map((choice) => `<option>${choice}</option>`).join('')
  expect(fields).toEqual([
    `What did you find?<select name="verdict" required>${choices('clean', 'infected')}</select>`,
    'size<input name="size" required type="number" step="any">',
    `sure<select name="sure">${choices('', 'true', 'false')}</select>`,
    `next<select name="next">${choices('', 'keep', 'delete')}</select>`,
    'mail<input name="mail" type="text">',
  ])
  const answer = await send('verdict=clean&size=7.5&sure=false&next=&mail=', FORM_TYPE)
  expect(answer.body).toMatchObject({ success: true })
  const [event] = await store.listEvents({ limit: 1 })
  expect(JSON.parse(event?.body ?? '').data.data).toEqual({ verdict: 'clean', size: 7.5, sure: false })
})

test.each([
  ['one number', z.number(), '<input name="answer" required type="number" step="any">', 'answer=7', 7],
  ['yes or no', z.boolean(), '<button name="answer" value="false">false</button>', 'answer=false', false],
  ['a literal', z.literal('seen'), '<button name="answer" value="seen">seen</button>', 'answer=seen', 'seen'],
] as const)('a page asks for an answer that is %s', async (_name, schema, control, body, expected) => {
  const data = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })))
  const { url, path, store, send } = await openCallback({ ask: 'Well?', data })
  expect((await supertest(url).get(path)).text).toContain(control)
  expect((await send(body, FORM_TYPE)).status).toBe(200)
  const [event] = await store.listEvents({ limit: 1 })
  expect(JSON.parse(event?.body ?? '').data.data).toEqual(expected)
})

test.each([
  ['a list', z.object({ all: z.array(z.string()) })],
  ['a choice among numbers', z.object({ one: z.literal([1, 2]) })],
] as const)('a page has no form where a field needs %s', async (_name, schema) => {
  const data = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })))
  const { url, path } = await openCallback({ ask: 'Well?', data })
  expect((await supertest(url).get(path)).text).not.toContain('<form')
})

test('the page of a hook for a program has no form', async () => {
  const { url, path } = await openCallback()
  const { text, status } = await supertest(url).get(path)
  expect([status, text.includes('<form')]).toEqual([200, false])
})

const scanner = 'a-secret-of-the-scanner-0123456789'
const webhooks = Buffer.from('a-key-of-32-bytes-0123456789abcd')
const text = (words: string) => Buffer.from(words)
const seconds = String(NOW / 1_000)
const SIGNED: [string, SignatureScheme, string, (body: string) => Record<string, string>][] = [
  ['hex', SCHEME_PRESETS.hex, scanner, (body) => ({ 'X-Service-Signature': opensslHmac(scanner, body) })],
  [
    'sha256-prefix',
    { ...SCHEME_PRESETS['sha256-prefix'], header: 'X-Hub-Signature-256' },
    scanner,
    (body) => ({ 'X-Hub-Signature-256': `sha256=${opensslHmac(scanner, body)}` }),
  ],
  [
    'timestamped',
    SCHEME_PRESETS.timestamped,
    scanner,
    (body) => ({ 'X-Service-Signature': `t=${seconds},v1=${opensslHmac(scanner, `${seconds}.${body}`)}` }),
  ],
  [
    'standard-webhooks',
    SCHEME_PRESETS['standard-webhooks'],
    `whsec_${webhooks.toString('base64')}`,
    (body) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${opensslMac('sha256', webhooks, text(`msg_1.${seconds}.${body}`)).toString('base64')}`,
    }),
  ],
]

test.each(SIGNED)('an answer signed as %s is verified, and any other is 401', async (_name, scheme, secret, sign) => {
  const { send, told, clock } = await openCallback({ sign: { scheme, secret } })
  expect((await send(CLEAN)).status).toBe(401)
  expect((await send(CLEAN, { ...JSON_TYPE, ...sign('{}') })).status).toBe(401)
  expect((await send(CLEAN, { ...JSON_TYPE, ...sign(CLEAN) })).status).toBe(200)
  clock.advance('10m')
  const isTimed = scheme.signed !== 'body'
  expect((await send(CLEAN, { ...JSON_TYPE, ...sign(CLEAN) })).status).toBe(isTimed ? 401 : 200)
  expect((await told()).map(({ verdict }) => verdict)).toContain('bad_signature')
})

test('an answer whose signature covers its id is counted once, whatever key a copy of it names', async () => {
  const [, scheme, secret, sign] = SIGNED[3] as (typeof SIGNED)[number]
  const { send } = await openCallback({ isMany: true, sign: { scheme, secret } })
  const copied = async (key: string) =>
    (await send(CLEAN, { ...JSON_TYPE, ...sign(CLEAN), 'Idempotency-Key': key })).body.data.verdict
  expect([await copied('one'), await copied('other')]).toEqual(['accepted', 'duplicate'])
})

test.each<[why: string, secret: string, headers: Record<string, string>, reason: RegExp]>([
  [
    'by another scheme',
    scanner,
    { 'X-Hub-Signature-256': `sha256=${opensslHmac(scanner, CLEAN)}` },
    /another scheme: write sign\.scheme of the hook as {"header":"x-hub-signature-256","grammar":"prefix"}/i,
  ],
  [
    'without the line break of our secret',
    `${scanner}\n`,
    { 'X-Service-Signature': opensslHmac(scanner, CLEAN) },
    /Our secret has white space around it/,
  ],
  ['by nobody we know', scanner, { 'X-Service-Signature': opensslHmac('another', CLEAN) }, /^mismatch$/],
])('a signature %s is told of in the ledger, and the sender learns nothing', async (_why, secret, headers, reason) => {
  const { send, told } = await openCallback({ sign: { scheme: SCHEME_PRESETS.hex, secret } })
  const answer = await send(CLEAN, { ...JSON_TYPE, ...headers })
  expect(answer.status).toBe(401)
  expect(JSON.stringify(answer.body)).not.toMatch(/scheme|white space/)
  const [refused] = await told()
  expect(refused).toMatchObject({ verdict: 'bad_signature', facts: { reason: expect.stringMatching(reason) } })
  expect(JSON.stringify(refused)).not.toContain(scanner)
})

test('a hook with `many` takes each answer; the same key of a sender is the same answer', async () => {
  const { send, store, lease } = await openCallback({ isMany: true })
  for (let turn = 0; turn < 2; turn++) expect((await send(CLEAN)).body.data.verdict).toBe('accepted')
  const keyed = { ...JSON_TYPE, 'Idempotency-Key': 'part-3' }
  expect((await send(CLEAN, keyed)).body.data.verdict).toBe('accepted')
  expect((await send(CLEAN, keyed)).body.data.verdict).toBe('duplicate')
  expect(await store.listHooks(lease.runId)).toMatchObject([{ answers: 3 }])
})

test('bodies and rates are bounded as for endpoints', async () => {
  const limits = { bodyBytes: 100, endpointPerSecond: 1, endpointBurst: 3 }
  const { send, path, url, clock } = await openCallback({ data: null }, { limits })
  expect((await send(JSON.stringify('x'.repeat(200)))).status).toBe(413)
  const flood = await Promise.all(
    Array.from({ length: 6 }, () => send(CLEAN, JSON_TYPE, path.replace(/.{32}$/, '0'.repeat(32)))),
  )
  expect(flood.map(({ status }) => status).sort()).toEqual([404, 404, 404, 503, 503, 503])
  // The flood of strangers takes nothing from those who know an address.
  expect((await send(CLEAN)).status).toBe(200)
  const visits: number[] = []
  for (const wait of [0, 0, 1_000, 0]) {
    clock.advance(wait)
    visits.push((await supertest(url).get(path)).status)
  }
  expect(visits).toEqual([410, 503, 410, 503])
})

test('nothing that grants an answer is on disk, in a notice or in the log', async () => {
  const { send, store, path, address, heard, told } = await openCallback({
    sign: { scheme: SCHEME_PRESETS.hex, secret: scanner },
  })
  await send(CLEAN, { ...JSON_TYPE, 'X-Service-Signature': opensslHmac(scanner, CLEAN) })
  await send(CLEAN)
  await told()
  const token = path.split('/').at(-1) ?? ''
  const disk = bytesOf((store as unknown as { folder: string }).folder)
  for (const secret of [token, token.slice(26), scanner, await store.loadHookKey()]) {
    expect(disk.includes(secret)).toBe(false)
    expect(JSON.stringify(heard)).not.toContain(secret)
  }
  expect(maskTokens(`POST ${address} now`)).not.toContain(token.slice(26))
})
