import { expect, it } from 'vitest'
import { burstOf } from '../../../src/core/service/account.ts'

it('a burst is for every account, or for those that it names', () => {
  expect([burstOf(100, 'default'), burstOf(100, 'shop')]).toEqual([100, 100])
  expect([burstOf({ shop: 7 }, 'default'), burstOf({ shop: 7 }, 'shop')]).toEqual([null, 7])
  expect([burstOf(null, 'default'), burstOf(undefined, 'default'), burstOf({}, 'constructor')]).toEqual([
    null,
    null,
    null,
  ])
})
