import { expect, test } from 'vitest'
import { findMadeUp, makeUpEvents } from '../../../src/engine/reconcile/make-up-events.ts'
import { SweepWorld } from '../../schedule/sweep/support/sweep-world.ts'
import { openTestStore } from '../../support/test-store.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

test('a late real event finds the made-up one of its file, for thirty days and only its own type', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  for (let n = 0; n < 40; n++) world.add()
  await world.run(HOUR)
  const lost = world.add()
  await world.run(7 * HOUR)
  const [made] = await world.findings()
  const late = async (type: 'file.created' | 'file.deleted', id: string, name = `evt_${type}_${id}`) => {
    await world.tell(type, id, name)
    return findFor(name)
  }
  const findFor = async (name: string) => {
    const told = await world.store.listEvents({ limit: 100 })
    const event = told.find((each) => each.id === name)
    if (event === undefined) throw new Error('it was told')
    const parts = { store: world.store, functions: () => world.functions, spellingsOf: () => ({}) }
    return {
      now: await findMadeUp(event, parts),
      old: await findMadeUp({ ...event, receivedAt: event.receivedAt + 31 * DAY }, parts),
    }
  }
  expect(made?.event).toMatch(/^evt_/)
  // Both came since the last look of the file book.
  await world.tell('file.created', lost, 'evt_late')
  expect(await late('file.created', lost, 'evt_of_a_second_creation')).toEqual({ now: null, old: null })
  expect(await findFor('evt_late')).toEqual({ now: made?.event, old: null })
  expect(await late('file.deleted', lost)).toEqual({ now: null, old: null })
  expect(await late('file.created', 'fil_00001')).toEqual({ now: null, old: null })
})

test('of an event that comes while its loss is due and the one to be made up, one starts runs', async () => {
  const store = openTestStore()
  const world = new SweepWorld({ ...store, makeUpEvent: async () => false }, { repair: 'events' })
  for (let n = 0; n < 40; n++) world.add()
  await world.run(HOUR)
  const lost = world.add()
  await world.run(7 * HOUR)
  expect(await world.findings()).toMatchObject([{ file: lost, state: 'due' }])
  await world.tell('file.created', lost, 'evt_just_in_time')
  const [event] = (await store.listEvents({ limit: 100 })).filter(({ id }) => id === 'evt_just_in_time')
  if (event === undefined) throw new Error('it was told')
  const parts = { store, clock: world.clock, functions: () => world.functions, spellingsOf: () => ({}) }
  expect(await findMadeUp(event, parts)).toBe(null)
  await makeUpEvents({ ...parts, publish: () => {}, routes: () => [] })
  expect(await world.findings()).toMatchObject([{ file: lost, state: 'reported', event: null }])
})
