import { expect, test } from 'vitest'
import { beginSweep, newState } from '../../../../src/core/service/sweep/sweep-state.ts'
import type { SweepChange } from '../../../../src/core/store/sweeps.ts'
import { NOW } from '../../../support/fixtures.ts'
import { openTwo } from '../support/open-two.ts'
import { spyQueries } from '../support/spy-queries.ts'

const KEY = { account: 'default', storage: 'storage_a' } as const
const PLAN = { ...KEY, path: '/', recursive: true, everyMs: 1, budget: 0.1, graceMs: 1, repair: 'events' } as const

/** Its approval is told of first, so that every delivery of the account waits for its end. */
test('findings that are held take few messages: thousands of them hold up no delivery for long', async () => {
  const { one } = await openTwo()
  const state = beginSweep(newState(PLAN, null), NOW)
  const save = (version: number, change: SweepChange) =>
    one.saveSweep({ ...KEY, state, version, forgottenTo: null }, change)
  const findings = Array.from({ length: 100 }, (_, index) => ({
    ...KEY,
    file: `fil_${index}`,
    type: 'file.created' as const,
    state: 'found' as const,
    sweep: 2,
    foundAt: NOW,
    path: `/in/${index}`,
    entry: '{}',
    reason: null,
    approval: null,
    event: null,
    lateEvent: null,
  }))
  await save(0, { findings })
  const sent = spyQueries()
  await save(1, { settle: { state: 'held', held: { why: 'so many', needs: 1, now: NOW, expiresAt: NOW + 1 } } })
  expect(sent.length).toBeLessThan(30)
  const [approval] = await one.listApprovals({ limit: 1, now: NOW })
  expect(approval).toMatchObject({ kind: 'repair', items: 100 })
  expect(await one.listFindings({ states: ['held'], limit: 1_000 })).toHaveLength(100)
})
