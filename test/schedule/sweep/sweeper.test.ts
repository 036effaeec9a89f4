import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished } from 'vitest'
import { deriveEventId } from '../../../src/core/ids.ts'
import type { Decision } from '../../../src/core/safety/approval.ts'
import type { SweepPlan } from '../../../src/core/service/sweep/sweep-plan.ts'
import { newState } from '../../../src/core/service/sweep/sweep-state.ts'
import type { SweepParts } from '../../../src/schedule/sweep/sweep-parts.ts'
import { decideHeld, Sweeper } from '../../../src/schedule/sweep/sweeper.ts'
import { openTestStore } from '../../support/test-store.ts'
import { SweepWorld, test } from './support/sweep-world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

test('the first sweep accuses nobody, and a later one finds the events that were lost', async ({ world }) => {
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

test('a listing whose total falls is not complete, and accuses nobody', async ({ world }) => {
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

test('without the file function of a type, nothing of that type is accused', async ({ world }) => {
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

test('an event that names no readable file makes the losses of its time unclear', async ({ world }) => {
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
  const event = deriveEventId('reconcile', 'default', 'file.created', 'storage_a', lost, finding?.sweep ?? 0)
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

test('many files that are gone at once wait for people, too, where no request is left to be sent', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  const files = Array.from({ length: 40 }, () => world.add())
  await world.run(HOUR)
  for (const file of files.slice(0, 12)) world.files.delete(file)
  await world.run(9 * HOUR)
  expect((await world.findings()).map(({ state }) => state)).toEqual(Array(12).fill('held'))
  expect(world.notices.filter(({ kind }) => kind === 'event.made_up')).toEqual([])
  const [approval] = await world.store.listApprovals({ limit: 9, now: world.clock.now() })
  expect(approval).toMatchObject({ items: 12, why: expect.stringContaining('12 of the 28 files') })
})

test('what people approved is made up, however many newer findings wait for them', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  await holdMany(world, 1_010)
  await approveOne(world, [{ from: 1, to: 2 }])
  await decideHeld(world.parts)
  const due = await world.store.listFindings({ states: ['due'], limit: 9 })
  expect(due.map(({ file }) => file).toSorted()).toEqual(['fil_00000', 'fil_00001'])
})

test('a long list that people approved is carried out in parts, and read once for all of them', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  const { store } = world
  await holdMany(world, 1_010)
  await approveOne(world, null)
  let reads = 0
  const listFindings: typeof store.listFindings = (query) => {
    if (query.states?.includes('held')) reads += 1
    return store.listFindings(query)
  }
  const sweeper = new Sweeper([world.plan], { ...world.parts, store: { ...store, listFindings } })
  sweeper.start()
  const countDue = async () => {
    await world.clock.advance(1)
    return (await store.listFindings({ states: ['due'], limit: 2_000 })).length
  }
  await expect.poll(countDue).toBe(1_010)
  await sweeper.stop()
  expect(reads).toBe(1)
})

test('what people approved is made up, however many newer approvals wait for them', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  await holdOneEach(world, 102)
  await decide(world, 'a0', 'approved')
  await decideHeld(world.parts)
  expect(await world.store.listFindings({ states: ['due'], limit: 9 })).toMatchObject([{ account: 'a0' }])
})

test('an item that nobody has approved is not made up, whatever its row and its approval say', async () => {
  const store = openTestStore()
  const world = new SweepWorld(store, { repair: 'events' })
  await holdOneEach(world, 1)
  const db = new Database(join(store.folder, 'upshot.db'))
  onTestFinished(() => void db.close())
  db.exec(`UPDATE approval_item SET state = 'approved'`)
  for (const status of ['open', 'denied', 'approved']) {
    db.prepare('UPDATE approval SET status = ?').run(status)
    await decideHeld(world.parts)
    expect((await world.findings()).map(({ state }) => state)).toEqual(['held'])
  }
})

test('approvals that no held finding needs are not read', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  await holdOneEach(world, 3)
  for (const account of ['a0', 'a1']) await decide(world, account, 'denied')
  await decideHeld(world.parts)
  const read: string[] = []
  const listApprovalItems: typeof world.store.listApprovalItems = (query) => {
    read.push(query.approval)
    return world.store.listApprovalItems(query)
  }
  const store = { ...world.store, listApprovalItems }
  await decideHeld({ ...world.parts, store })
  expect(read).toHaveLength(1)
})

/** Findings that wait for one approval. */
async function holdMany({ store, plan, clock }: SweepWorld, count: number): Promise<void> {
  const now = clock.now()
  const about = { account: plan.account, storage: plan.storage, type: 'file.created', state: 'found' } as const
  const none = { reason: null, approval: null, event: null, lateEvent: null }
  const findings = Array.from({ length: count }, (_, n) => {
    const file = `fil_${String(n).padStart(5, '0')}`
    return { ...about, ...none, file, sweep: 1, foundAt: now + n, path: `/${file}`, entry: '{}' }
  })
  const held = { why: 'make them up?', needs: 1, now, expiresAt: now + HOUR }
  const kept = { ...about, state: newState(plan, null), version: 0, forgottenTo: null }
  await store.saveSweep(kept, { findings, settle: { state: 'held', held } })
}

/** Approves the only list, or a part of it. */
async function approveOne({ store, clock }: SweepWorld, only: Decision['only']): Promise<void> {
  const now = clock.now()
  const [approval] = await store.listApprovals({ limit: 9, now })
  const word = { verdict: 'approved', actor: 'ann', reason: null, answer: null, signature: null } as const
  await store.decideApproval({ ...word, approval: approval?.id ?? '', hash: approval?.hash ?? '', only }, now)
  while ((await store.carryOutDecision(now)) !== null);
}

/** A finding of each account `a0`, `a1` and so on, which waits for an approval of its own. */
async function holdOneEach({ store, plan, clock }: SweepWorld, count: number): Promise<void> {
  const now = clock.now()
  const about = { storage: plan.storage, type: 'file.created', state: 'found', file: 'fil_1' } as const
  const none = { reason: null, approval: null, event: null, lateEvent: null }
  const held = { why: 'make it up?', needs: 1, expiresAt: now + HOUR }
  for (let n = 0; n < count; n++) {
    const finding = { ...about, ...none, account: `a${n}`, sweep: 1, foundAt: now, path: '/fil_1', entry: '{}' }
    const kept = { ...about, account: `a${n}`, state: newState(plan, null), version: 0, forgottenTo: null }
    const settle = { state: 'held', held: { ...held, now: now + n } } as const
    await store.saveSweep(kept, { findings: [finding], settle })
  }
}

async function decide({ store, clock }: SweepWorld, account: string, verdict: 'approved' | 'denied'): Promise<void> {
  const now = clock.now()
  const all = await store.listApprovals({ limit: 1_000, now })
  const { id = '', hash = '' } = all.find((each) => each.account === account) ?? {}
  const word = { verdict, actor: 'ann', reason: null, answer: null, signature: null, only: null }
  await store.decideApproval({ ...word, approval: id, hash }, now)
}

test('a folder that the listing shows as a file is no loss', async () => {
  const world = new SweepWorld(openTestStore(), { repair: 'events' })
  for (let n = 0; n < 40; n++) world.add()
  await world.run(HOUR)
  const folder = world.add()
  const { get } = world.api
  world.api.get = async (file) => {
    const entry = await get(file)
    return entry && file.id === folder ? { ...entry, type: 'folder' } : entry
  }
  await world.run(9 * HOUR)
  expect(await world.findings()).toEqual([])
})

test('a file is no loss whose event is matched while the finding is written', async ({ store }) => {
  const lost: string[] = []
  const saveSweep: typeof store.saveSweep = async (kept, change) => {
    for (const { file } of change?.findings ?? []) {
      await world.tell('file.created', file)
      await world.match()
    }
    return store.saveSweep(kept, change)
  }
  const world = new SweepWorld({ ...store, saveSweep })
  world.add()
  await world.run(HOUR)
  lost.push(world.add())
  await world.run(9 * HOUR)
  expect(await world.findings()).toEqual([])
})

test('a clock that was a year ahead for a while ends no sweeps, and its moments accuse nobody', async ({ world }) => {
  for (let n = 0; n < 9; n++) world.add()
  await world.run(HOUR)
  const right = world.clock.now()
  world.clock.advance(365 * DAY)
  await world.run(30_000)
  world.owner = 'wrk_2'
  world.clock.set(right + HOUR)
  const unknown = world.add()
  await world.run(3 * HOUR)
  const lost = world.add()
  await world.run(9 * HOUR)
  expect((await world.findings()).map(({ file }) => file)).toEqual([lost])
  expect(unknown).not.toBe(lost)
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

test('nothing is judged before every stored event is matched', async ({ world }) => {
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

test('a delete of our own needs no event, and is no loss', async ({ store }) => {
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

test('files that lie outside a changed folder are no loss, and are given up', async ({ world }) => {
  const [outside = ''] = [world.add(), world.add()]
  await world.run(HOUR)
  world.plan = { ...world.plan, path: '/in' }
  world.files.delete(outside)
  await world.run(7 * HOUR)
  expect(await world.findings()).toEqual([])
  const now = world.clock.now()
  expect(await world.store.prune({ kind: 'files', before: 1, now, limit: 9, after: null })).toMatchObject({ pruned: 1 })
})

test('of two processes one sweeps, and the other goes on when it is gone', async ({ world }) => {
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

test('what waits for people is read every ten seconds, and not at each request of a sweep', async ({ world }) => {
  for (let n = 0; n < 200; n++) world.add()
  const counts = { held: 0, requests: 0 }
  const store: typeof world.store = {
    ...world.store,
    listFindings: (query) => {
      if (query.states?.includes('held')) counts.held += 1
      return world.store.listFindings(query)
    },
  }
  const list: typeof world.api.list = (query) => {
    counts.requests += 1
    return world.api.list(query)
  }
  const filesOf = async () => ({ ...world.api, perMinute: 6_000, list })
  const sweeper = new Sweeper([world.plan], { ...world.parts, store, filesOf })
  sweeper.start()
  for (let second = 0; second < 30; second++) {
    await new Promise(setImmediate)
    await world.clock.advance(1_000)
  }
  await sweeper.stop()
  expect(counts.requests).toBeGreaterThan(5)
  expect(counts.held).toBeLessThanOrEqual(4)
})

test('a file that cannot be asked for is passed over and said, and others are judged', async () => {
  const world = new SweepWorld(openTestStore(), { everyMs: 4 * HOUR })
  world.add()
  await world.run(3 * HOUR)
  const [broken, lost] = [world.add(), world.add()]
  const get: typeof world.api.get = (file) =>
    file.id === broken ? Promise.reject(new Error('no reply for it')) : world.api.get(file)
  world.apiWith = { get }
  await world.run(6 * HOUR)
  expect((await world.findings()).map(({ file }) => file)).toEqual([lost])
  expect(world.notices.findLast(({ kind }) => kind === 'sweep.ended')).toMatchObject({
    number: 3,
    missing: 1,
    fault: `some files could not be asked for, the last one ${broken}: Error: no reply for it`,
  })
  world.apiWith = {}
  await world.run(4 * HOUR)
  expect((await world.findings()).map(({ file }) => file).toSorted()).toEqual([broken, lost])
})

test('a service that fails for every file ends the sweep', async () => {
  const world = new SweepWorld(openTestStore(), { everyMs: 4 * HOUR })
  world.add()
  await world.run(3 * HOUR)
  for (let each = 0; each < 9; each++) world.add()
  world.apiWith = { get: () => Promise.reject(new Error('away')) }
  await world.run(6 * HOUR)
  expect(await world.findings()).toEqual([])
  expect(world.notices.findLast(({ kind }) => kind === 'sweep.ended')).toMatchObject({
    fault: '10 requests failed: Error: away',
  })
})

test('a stop waits for no answer of the service, and counts none as a failure', async ({ world }) => {
  const asked = Promise.withResolvers<void>()
  const filesOf: SweepParts['filesOf'] = async (_, signal) => {
    const list = () => {
      asked.resolve()
      return new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }
    return { ...world.api, list }
  }
  const sweeper = new Sweeper([world.plan], { ...world.parts, filesOf })
  sweeper.start()
  await asked.promise
  await sweeper.stop()
  const { state } = (await world.store.loadSweep('default', 'storage_a')) ?? {}
  expect(state).toMatchObject({ phase: 'listing', failures: 0 })
  expect(world.notices).toEqual([])
})
