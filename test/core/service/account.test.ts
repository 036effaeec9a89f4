import { describe, expect, it } from 'vitest'
import { decideKeyFault, isLoopback, planAccount } from '../../../src/core/service/account.ts'

const GIVEN = {
  name: 'shop',
  baseUrl: 'https://api.example.com/v1/',
  apiKey: 'sk_live_1',
  fallbackKey: null,
  plan: 'pro',
  storages: { storage_a: 'a', storage_b: 'b', storage_c: 'c' },
} as const

describe('planAccount', () => {
  it('planAccount adds the creation time and removes slashes from the end of the address', () => {
    expect(planAccount(GIVEN, 5)).toEqual({ ...GIVEN, baseUrl: 'https://api.example.com/v1', createdAt: 5 })
  })

  it.each(['', 'Shop', '-shop', 'a b', 'default', 'a'.repeat(41)])('planAccount refuses the name %j', (name) =>
    expect(() => planAccount({ ...GIVEN, name }, 0)).toThrow(/account/),
  )

  it.each(['', 'two words', 'line\nbreak', 'ключ'])('planAccount refuses the key %j and does not repeat it', (apiKey) =>
    expect(() => planAccount({ ...GIVEN, apiKey }, 0)).toThrow(/^The API key is empty, or has/),
  )

  it('planAccount checks the fallback key like the first one', () => {
    expect(() => planAccount({ ...GIVEN, fallbackKey: 'sk_sandbox_1' }, 0)).toThrow(/not on this machine/)
    expect(() => planAccount({ ...GIVEN, fallbackKey: '' }, 0)).toThrow(/is empty/)
  })
})

it.each([
  ['https://api.example.com/v1', 'sk_live_1', null],
  ['http://127.0.0.1:4747/v1', 'sk_sandbox_1', null],
  ['http://[::1]:4747/v1', 'sk_sandbox_1', null],
  ['https://api.example.com/v1', 'sk_sandbox_1', 'sandbox_key_elsewhere'],
  ['http://localhost:4747/v1', 'sk_live_1', 'real_key_here'],
  ['http://api.example.com/v1', 'sk_live_1', 'key_in_the_clear'],
] as const)('decideKeyFault of an address %s and a key %s is %s', (url, key, fault) => {
  expect(decideKeyFault(new URL(url), key)).toBe(fault)
})

it.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['localhost', true],
  ['[::1]', true],
  ['127.0.0.1.example.com', false],
  ['localhost.example.com', false],
  ['10.0.0.1', false],
])('isLoopback of %s is %s', (host, expected) => expect(isLoopback(host)).toBe(expected))
