const refuse = () => {
  throw new Error('not to be looked at')
}
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const cyclic = new Error('round')
cyclic.cause = cyclic
const traps = { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse }

/**
 * Values that throw where they are looked at, or that are too large to look at all of them. Each is
 * made by a function, because the runner of tests looks at its parameters.
 */
export const hostileValues: [string, () => unknown][] = [
  ['a proxy whose prototype cannot be read', () => new Proxy(new Error('x'), { getPrototypeOf: refuse })],
  ['a proxy that lets nothing be read', () => new Proxy(new Error('x'), traps)],
  ['a revoked proxy', () => revoked.proxy],
  ['an object whose text cannot be made', () => ({ toString: refuse, [Symbol.toPrimitive]: refuse })],
  ...['message', 'retryable', 'retryAt', 'cause'].map((property): [string, () => unknown] => [
    `an error whose ${property} throws a proxy`,
    () => Object.defineProperty(new Error('x'), property, { get: throwProxy }),
  ]),
  ['an error that is its own cause', () => cyclic],
  [
    'an error with a cause of 10 MB',
    () => new Error('x'.repeat(5_000_000), { cause: new Error('y'.repeat(5_000_000)) }),
  ],
  [
    'an error with a name and a code of 1 MB',
    () => Object.assign(new Error('x'), { name: 'n'.repeat(1e6), code: 'c'.repeat(1e6) }),
  ],
]

function throwProxy(): never {
  throw new Proxy({}, traps)
}
