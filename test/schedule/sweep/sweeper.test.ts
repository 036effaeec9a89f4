import { describe, expect, test } from 'vitest'
import { deriveId } from '../../../src/core/ids.ts'
import type { SweepPlan } from '../../../src/core/service/sweep/sweep-plan.ts'
import { openTestStore } from '../../support/test-store.ts'
import { SweepWorld } from './support/sweep-world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

test('the first sweep accuses nobody, and a later one finds the events that were lost', async () => {
  const world = new SweepWorld(openTestStore())
  const old = Array.from({ length: 9 }, () => world.add())
  await world.run(HOUR)
  const told = world.add()
  await world.tell('file.created', told)
  const lost = world.add()
  const [gone = '', toldGone = ''] = old
  world.files.delete(gone)
  world.files.delete(toldGone)
  await world.tell('file.deleted', toldGone)
  await world.run(7 * HOUR)
  expect((await world.findings()).map(({ file, type, state }) => [file, type, state]).toSorted()).toEqual([
    [gone, 'file.deleted', 'missing'],
    [lost, 'file.created', 'missing'],
  ])
  expect(world.notices.filter(({ kind }) => kind === 'event.missing')).toHaveLength(2)
  expect(world.busiestMinute).toBeLessThanOrEqual(6)
})

test('a listing whose total falls is not complete, and accuses nobody', async () => {
  const world = new SweepWorld(openTestStore())
  const files = Array.from({ length: 12 }, () => world.add())
  await world.run(HOUR)
  world.onRequest = async () => {
    // Each listing loses a file that it has seen.
    const last = files.shift()
    if (last !== undefined && world.requests.length % 2 === 0) world.files.delete(last)
  }
  world.add()
  await world.run(HOUR)
  const ended = world.notices.filter((notice) => notice.kind === 'sweep.ended')
  expect(ended.at(-1)).toMatchObject({ fault: 'changed', missing: 0 })
})

test('without the file function of a type, nothing of that type is accused', async () => {
  const world = new SweepWorld(openTestStore())
  world.functions.delete('file.created')
  world.add()
  await world.run(HOUR)
  world.add()
  await world.run(7 * HOUR)
  expect(await world.findings()).toEqual([])
})

describe.each(['file.created', 'file.deleted'] as const)('with the file function of %s alone', (type) => {
  const openWorld = (plan: Partial<SweepPlan>) => {
    const world = new SweepWorld(openTestStore(), plan)
    for (const each of world.functions.keys()) if (each !== type) world.functions.delete(each)
    world.add()
    return world
  }

  test('nothing is called lost before its grace is over', async () => {
    const world = openWorld({ graceMs: 12 * HOUR })
    await world.run(HOUR)
    const file = world.add()
    await world.run(HOUR)
    if (type === 'file.deleted') world.files.delete(file)
    // The grace of a file that is gone begins when the service says so.
    await world.run((type === 'file.deleted' ? 13 : 11) * HOUR)
    expect(await world.findings()).toEqual([])
    await world.run(8 * HOUR)
    expect(await world.findings()).toMatchObject([{ file, type }])
  })

  test('a file is not judged again once it is forgotten what was told of it', async () => {
    const world = openWorld({ everyMs: DAY, graceMs: 36 * HOUR })
    await world.run(DAY)
    const file = world.add()
    await world.tell('file.created', file)
    const forget = async () => {
      await world.run(22 * DAY)
      const now = world.clock.now()
      const slice = { kind: 'files', before: now - 90 * DAY, now, limit: 50 } as const
      const { next } = await world.store.prune({ ...slice, after: '' })
      await world.store.prune({ ...slice, after: next })
      await world.run(2 * DAY)
    }
    await forget()
    world.files.delete(file)
    await world.tell('file.deleted', file)
    await forget()
    expect(await world.findings()).toEqual([])
  })
})

test('an event that names no readable file makes the losses of its time unclear', async () => {
  const world = new SweepWorld(openTestStore())
  world.add()
  await world.run(HOUR)
  world.add()
  await world.tell('file.created', 7 as never, 'evt_odd')
  await world.run(7 * HOUR)
  expect(await world.findings()).toMatchObject([{ state: 'unclear', reason: expect.stringContaining('evt_odd') }])
})

test('a lost event is made up once, and the real one is linked to it when it comes', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  for (let n = 0; n < 40; n++) world.add()
  await world.run(HOUR)
  const lost = world.add()
  await world.run(7 * HOUR)
  const [finding] = await world.findings()
  // The id follows from the finding, so that two processes make one event.
  const event = deriveId('evt', 'reconcile', 'default', 'file.created', 'storage_a', lost, finding?.sweep ?? 0)
  expect(finding).toMatchObject({ file: lost, state: 'made', event })
  const made = (await world.store.listEvents({ limit: 9 })).filter(({ id }) => id === finding?.event)
  expect(made).toMatchObject([{ type: 'file.created', origin: 'reconcile' }])
  expect(JSON.parse(made[0]?.body ?? '').data.file).toMatchObject({ id: lost, mimeType: 'text/plain' })
  await world.tell('file.created', lost)
  await world.run(HOUR)
  expect(await world.findings()).toMatchObject([{ state: 'made', lateEvent: `evt_file.created_${lost}` }])
  expect(world.notices.filter(({ kind }) => kind === 'event.made_up')).toHaveLength(1)
})

test('more than 5 % at once wait for people, who decide with the commands of approvals', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  for (let n = 0; n < 20; n++) world.add()
  await world.run(HOUR)
  const lost = [world.add(), world.add()]
  await world.run(7 * HOUR)
  expect((await world.findings()).map(({ state }) => state)).toEqual(['held', 'held'])
  const now = world.clock.now()
  const [approval] = await world.store.listApprovals({ limit: 9, now })
  expect(approval).toMatchObject({ kind: 'repair', items: 2, why: expect.stringContaining('2 of the 22 files') })
  const items = await world.store.listApprovalItems({ approval: approval?.id ?? '', limit: 9 })
  expect(items.map(({ target }) => target)).toEqual(lost.map((file) => `storage_a:${file}`))
  const word = { verdict: 'approved', actor: 'ann', reason: null, answer: null, signature: null } as const
  await world.store.decideApproval(
    { ...word, approval: approval?.id ?? '', hash: approval?.hash ?? '', only: [{ from: 1, to: 1 }] },
    now,
  )
  await world.run(60_000)
  expect((await world.findings()).map(({ state }) => state).toSorted()).toEqual(['held', 'made'])
})

test('losses whose approval expires are not made up', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  for (let n = 0; n < 20; n++) world.add()
  await world.run(HOUR)
  world.add()
  world.add()
  await world.run(7 * HOUR)
  expect((await world.findings()).map(({ state }) => state)).toEqual(['held', 'held'])
  world.clock.advance(49 * HOUR)
  await world.run(HOUR)
  const denied = { state: 'denied', event: null, reason: 'the approval is expired' }
  expect(await world.findings()).toMatchObject([denied, denied])
})

test('nothing is judged before every stored event is matched', async () => {
  const world = new SweepWorld(openTestStore())
  for (let n = 0; n < 4; n++) world.add()
  await world.run(HOUR)
  const match = world.match.bind(world)
  world.match = async () => {}
  await world.tell('file.created', world.add())
  await world.run(4 * HOUR)
  expect(await world.findings()).toEqual([])
  expect((await world.store.loadSweep('default', 'storage_a'))?.state).toMatchObject({ phase: 'judging' })
  world.match = match
  await world.run(4 * HOUR)
  expect(await world.findings()).toEqual([])
})

test('a delete of our own needs no event, and is no loss', async () => {
  const store = openTestStore()
  const world = new SweepWorld({
    ...store,
    hasOwnDelete: async (_, targets) => targets.includes('storage_a:fil_00000'),
  })
  const own = world.add()
  const foreign = [world.add(), ...Array.from({ length: 20 }, () => world.add())][0] ?? ''
  await world.run(HOUR)
  world.files.delete(own)
  world.files.delete(foreign)
  await world.run(9 * HOUR)
  expect((await world.findings()).map(({ file }) => file)).toEqual([foreign])
})

test('files that lie outside a changed folder are no loss, and are given up', async () => {
  const world = new SweepWorld(openTestStore())
  const [outside = ''] = [world.add(), world.add()]
  await world.run(HOUR)
  world.plan = { ...world.plan, path: '/in' }
  world.files.delete(outside)
  await world.run(7 * HOUR)
  expect(await world.findings()).toEqual([])
  const now = world.clock.now()
  expect(await world.store.prune({ kind: 'files', before: 1, now, limit: 9, after: null })).toMatchObject({ pruned: 1 })
})

test('of two processes one sweeps, and the other goes on when it is gone', async () => {
  const world = new SweepWorld(openTestStore())
  for (let n = 0; n < 40; n++) world.add()
  await world.run(30_000)
  const before = (await world.store.loadSweep('default', 'storage_a'))?.state
  expect(before).toMatchObject({ phase: 'listing' })
  world.owner = 'wrk_2'
  await world.run(20_000)
  expect((await world.store.loadSweep('default', 'storage_a'))?.state).toEqual(before)
  await world.run(10 * 60_000)
  expect((await world.store.loadSweep('default', 'storage_a'))?.state).toMatchObject({
    owner: 'wrk_2',
    phase: 'idle',
    seen: 40,
    baseline: 1,
    ended: { fault: null },
  })
})
