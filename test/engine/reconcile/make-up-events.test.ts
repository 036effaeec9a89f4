import { expect, test } from 'vitest'
import { makeUpEvents } from '../../../src/engine/reconcile/make-up-events.ts'
import { SweepWorld } from '../../schedule/sweep/support/sweep-world.ts'
import { openTestStore } from '../../support/test-store.ts'

const ENTRY = JSON.stringify({ service: 'storage_a', id: 'fil_0' })

test('findings of a type whose events can no longer be made up hold up none of another type', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  const { store, clock } = world
  const find = async (type: 'file.created' | 'file.deleted', count: number, foundAt: number) => {
    const place = { account: 'default', storage: 'storage_a' } as const
    const kept = await store.loadSweep('default', 'storage_a')
    const about = { type, state: 'found', sweep: 1, foundAt, path: '/a', entry: ENTRY } as const
    const none = { reason: null, approval: null, event: null, lateEvent: null }
    const findings = Array.from({ length: count }, (_, n) => ({ ...place, ...about, ...none, file: `fil_${n}` }))
    if (kept !== null) await store.saveSweep(kept, { findings, settle: { state: 'due', held: null } })
  }
  await world.run(3_600_000)
  await find('file.created', 1, clock.now())
  await find('file.deleted', 100, clock.now() + 1)
  const created = new Map(
    [...world.functions].map(([type, each]) => {
      return [type, type === 'file.deleted' ? { ...each, make: null } : each]
    }),
  )
  const parts = { store, clock, publish: () => {}, functions: () => created, routes: () => [] }
  await makeUpEvents({ ...parts, spellingsOf: () => ({}) })
  const states = Map.groupBy(await world.findings(), ({ type, state }) => `${type} ${state}`)
  expect([...states].map(([name, { length }]) => [name, length]).sort()).toEqual([
    ['file.created made', 1],
    ['file.deleted due', 100],
  ])
})
