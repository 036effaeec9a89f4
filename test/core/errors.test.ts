import { describe, expect, it } from 'vitest'
import {
  describeError,
  findAuthorFrame,
  redactUrls,
  StepError,
  TerminalError,
  UpshotError,
} from '../../src/core/errors.ts'
import { cpuMsOf } from '../support/cpu-time.ts'
import { hostileValues } from '../support/hostile-values.ts'

describe('UpshotError', () => {
  it('an UpshotError has the status of its code and says whether another try can help', () => {
    const full = new UpshotError('overloaded', 'full', { cause: new Error('queue'), details: { waiting: 3 } })
    expect(full).toMatchObject({ code: 'overloaded', status: 503, retryable: true, details: { waiting: 3 } })
    expect(full.cause).toEqual(new Error('queue'))
    expect(new UpshotError('invalid_signature', 'no')).toMatchObject({ status: 401, retryable: false, details: {} })
    expect('cause' in new UpshotError('internal', 'x')).toBe(false)
  })
})

it('a StepError names its step, the attempts and the reason', () => {
  const error = new StepError('pay', 3, { name: 'Error', message: 'declined' })
  expect(error.message).toBe('step "pay" failed after 3 attempts: declined')
  expect(error).toMatchObject({ step: 'pay', attempts: 3, failure: { message: 'declined' } })
})

describe('describeError', () => {
  it('describeError keeps name, message, code and at most five frames', () => {
    const error = Object.assign(new TerminalError('no'), { code: 'E_NO', headers: { authorization: 'Bearer x' } })
    const failure = describeError(error)
    expect(failure).toMatchObject({ name: 'TerminalError', message: 'no', code: 'E_NO' })
    expect(failure.at?.length).toBeLessThanOrEqual(5)
    expect(failure.at?.[0]).toContain('errors.test.ts')
    expect(JSON.stringify(failure)).not.toContain('Bearer')
  })

  it.each<[string, Error]>([
    ['a message that cannot become text', Object.assign(new Error(), { message: { toString: 0 } })],
    ['a name that cannot become text', Object.assign(new Error('no'), { name: { toString: 0 } })],
    ...['name', 'message', 'stack', 'code', 'cause'].map((property): [string, Error] => {
      const thrower = () => {
        throw new Error('not to be read')
      }
      return [`a ${property} that cannot be read`, Object.defineProperty(new Error('no'), property, { get: thrower })]
    }),
  ])('describeError reads an error with %s', (_, thrown) => {
    const failure = describeError(thrown)
    expect([typeof failure.name, typeof failure.message]).toEqual(['string', 'string'])
    expect(failure.message).not.toContain('undefined')
  })

  it.each(hostileValues)('describeError never throws, and keeps little, for %s', (_, make) => {
    const { name, message, code = '', at = [] } = describeError(make())
    for (const text of [name, message, code, ...at]) expect(typeof text).toBe('string')
    expect(JSON.stringify([name, message, code, at]).length).toBeLessThan(6_000)
  })

  it('describeError cuts the query of an address out of a message', () => {
    const { message } = describeError(new Error('GET https://dl.example/f/1?sig=abc#frag failed'))
    expect(message).toBe('GET https://dl.example/f/1?… failed')
  })

  const broken = Object.assign(new Error('x'), { message: { not: 'text' }, stack: ['frames'], name: 7 })
  it.each([
    ['text', 'a text', 'a text'],
    ['nothing', undefined, 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object that cannot become text', Object.create(null), 'a value that has no text'],
    ['an error whose parts are not text', broken, 'an object with the fields not'],
    ['an object with a message', { message: 'it is locked', status: 423 }, 'it is locked'],
    ['an object without a message', { status: 423, token: 'Bearer x' }, 'an object with the fields status, token'],
    ['half of a character', new Error('a\ud800b'), 'a\ufffdb'],
  ])('describeError describes %s that was thrown', (_, thrown, message) =>
    expect(describeError(thrown).message).toBe(message),
  )

  it('describeError stays fast on a message made to slow it down', async () => {
    expect(await cpuMsOf(() => describeError(new Error('http://'.repeat(200_000))))).toBeLessThan(500)
  })
})

describe('redactUrls', () => {
  it.each([
    ['see https://a.example/b/c', 'see https://a.example/b/c'],
    ['"https://a.example/b?x=1&y=2"', '"https://a.example/b?…"'],
    ['HTTPS://A.example/b?x=1', 'HTTPS://A.example/b?…'],
    ['https://user:pass@a.example/b', 'https://…@a.example/b'],
    ['https://a.example/b#access_token=1 and http://c.example/?q', 'https://a.example/b?… and http://c.example/?…'],
    ['is it 5? yes', 'is it 5? yes'],
  ])('redactUrls turns %j into %j', (text, kept) => expect(redactUrls(text)).toBe(kept))
})

it('the author is shown the own frame of a failure, not those of Node, libraries or this package', () => {
  const own = `file://${new URL('../../src/engine/worker.ts', import.meta.url).pathname}:9:1`
  const at = [
    `run (${own})`,
    'get (/app/node_modules/x/index.js:1:2)',
    'pay (file:///app/workflows/a.workflow.ts:15:3)',
  ]
  expect(findAuthorFrame({ at })).toBe('/app/workflows/a.workflow.ts:15')
  expect(findAuthorFrame({ at: at.slice(0, 2) })).toBeNull()
  expect(findAuthorFrame({ at: ['finalize (node:internal/modules/esm/resolve:272:11)'] })).toBeNull()
  expect(findAuthorFrame({})).toBeNull()
})

it('a syntax error keeps the file and line that its stack begins with', () => {
  const error = new SyntaxError('Expression expected')
  error.stack = `/app/workflows/bad.workflow.ts:3\n  x: = 3,\n\nSyntaxError: x\n    at parse (node:internal/x:72:36)`
  expect(describeError(error).at).toEqual(['/app/workflows/bad.workflow.ts:3'])
  expect(findAuthorFrame(describeError(error))).toBe('/app/workflows/bad.workflow.ts:3')
})

it('frames of Node leave their place to others, and a reloaded module keeps its own name', () => {
  const error = new Error('no')
  const node = Array.from({ length: 6 }, (_, line) => `    at f (node:fs:${line}:1)`).join('\n')
  error.stack = `Error: no\n${node}\n    at file:///app/a.workflow.ts?upshot-version=0ab1:4:2`
  expect(describeError(error).at).toEqual(['file:///app/a.workflow.ts:4:2'])
  error.stack = `Error: no\n${node}`
  expect(describeError(error).at).toHaveLength(5)
})
