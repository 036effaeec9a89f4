import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { type AlertBook, EMPTY_BOOK, takeIn } from '../../../src/core/alerts/alert-book.ts'
import type { AlertRule } from '../../../src/core/alerts/alert-rule.ts'
import { newId } from '../../../src/core/ids.ts'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import type { Approval } from '../../../src/core/safety/approval.ts'
import { beginSweep, newState } from '../../../src/core/service/sweep/sweep-state.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { lookFor } from '../../../src/watch/alerts/look.ts'
import type { ShadowStretch } from '../../../src/watch/alerts/look-at-shadows.ts'
import { makeRuns } from '../../admin/support/bulk.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { SweepWorld } from '../../schedule/sweep/support/sweep-world.ts'
import { incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { openTestStore, test } from '../../support/test-store.ts'
import { failRun, RULE } from './support/open-alerts.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

function looker(store: Store, part: Partial<AlertRule>, diskUse: number | null = null) {
  const rule = { ...RULE, ...part }
  return (now: number, position: string | null = null) =>
    lookFor(
      { store, readDiskUse: async () => diskUse, previewShadows: () => null },
      rule,
      { position, topics: [] },
      now,
    )
}

test('a new rule begins with the failures after it, and every later one is found once', async ({ store }) => {
  const look = looker(store, {})
  await failRun(store, NOW - 10_000)
  const first = await look(NOW)
  expect(first.sightings).toEqual([])
  await failRun(store, NOW + 1_000)
  await failRun(store, NOW + 9_000)
  const second = await look(NOW + 10_000, first.position)
  expect(second.sightings).toMatchObject([{ at: NOW + 1_000, count: 1, title: 'follow-up fails at “copy” with Error' }])
  // The end three seconds ago or later may still be followed by an earlier one of another process.
  const third = await look(NOW + 20_000, second.position)
  expect(third.sightings).toMatchObject([{ at: NOW + 9_000 }])
  expect((await look(NOW + 30_000, third.position)).sightings).toEqual([])
})

test('a failure that is committed late behind a newer one is found once, also in a flood', async ({ store }) => {
  const look = looker(store, {})
  await failRun(store, NOW + 9_000)
  const first = await look(NOW + 20_000, `${NOW}/`)
  expect(first.sightings).toMatchObject([{ at: NOW + 9_000 }])
  await failRun(store, NOW + 5_000)
  const second = await look(NOW + 30_000, first.position)
  expect(second.sightings).toMatchObject([{ at: NOW + 5_000 }])
  for (let n = 0; n < 300; n++) await failRun(store, NOW + 31_000 + n)
  const third = await look(NOW + 40_000, second.position)
  expect(third.sightings).toHaveLength(300)
  for (const later of [50_000, 200_000]) {
    expect((await look(NOW + later, third.position)).sightings).toEqual([])
  }
})

test('a run that is tried again and fails again within a minute is told twice', async ({ store }) => {
  const look = looker(store, {})
  const run = await failRun(store, NOW + 1_000)
  const first = await look(NOW + 5_000, `${NOW}/`)
  expect(first.sightings).toMatchObject([{ at: NOW + 1_000 }])
  await store.retryRun(run, NOW + 10_000)
  const { lease } = await claimNext(store, NOW + 10_000)
  await store.failRun(lease, { name: 'Error', message: 'another cause', step: 'delete' }, NOW + 12_000)
  const second = await look(NOW + 20_000, first.position)
  expect(second.sightings).toMatchObject([{ at: NOW + 12_000, title: 'follow-up fails at “delete” with Error' }])
  expect((await look(NOW + 30_000, second.position)).sightings).toEqual([])
})

test('a failure names the tags of its runs, of three that differ at most', async ({ store }) => {
  const look = looker(store, {})
  const first = await look(NOW)
  for (let n = 0; n < 6; n++) await failRun(store, NOW + 1_000, { tags: { customer: `c${n >> 1}`, region: 'eu' } })
  const second = await look(NOW + 10_000, first.position)
  const title =
    'follow-up fails at “copy” with Error (customer=c0, region=eu; customer=c1, region=eu; customer=c2, region=eu)'
  expect(second.sightings).toHaveLength(6)
  for (const sighting of second.sightings) expect(sighting.title).toBe(title)
  for (let n = 0; n < 5; n++) await failRun(store, NOW + 11_000, { tags: { customer: `c${n}` } })
  const third = await look(NOW + 20_000, second.position)
  expect(third.sightings[0]?.title).toMatch(/customer=c0; customer=c1; customer=c2; and 2 more\)$/)
})

test('a kind of failure that a person snoozed is not told until the snooze ends', async ({ store }) => {
  const look = looker(store, {})
  const { position } = await look(NOW)
  await failRun(store, NOW + 1_000)
  const [kind] = (await look(NOW + 5_000, position)).sightings
  const snooze = { kind: 'snoozed', note: null, by: 'cli:ada', at: NOW, until: NOW + HOUR } as const
  await store.saveFailureState({ group: kind?.id ?? '', ...snooze })
  expect((await look(NOW + 5_000, position)).sightings).toEqual([])
  expect((await look(NOW + HOUR, position)).sightings).toHaveLength(1)
})

test('a rule for a workflow leaves out the failures of others', async ({ store }) => {
  await failRun(store, NOW + 1_000)
  const look = looker(store, { workflow: 'another' })
  expect((await look(NOW + 10_000, `${NOW}/`)).sightings).toEqual([])
})

test('a queue whose oldest run waits longer than the bound is one topic', async ({ store }) => {
  await queueRun(store, 'evt_1')
  const look = looker(store, { when: 'queue.age', over: 60_000 })
  expect((await look(NOW + 60_000)).sightings).toEqual([])
  expect((await look(NOW + 90_000)).sightings).toMatchObject([
    { title: 'the queue stands: 1 pending, the oldest for 90 s', count: 90_000 },
  ])
})

test('a disk that is used above the bound is one topic', async ({ store }) => {
  const rule = { when: 'disk.low', over: 0.9 } as const
  expect((await looker(store, rule, 0.9)(NOW)).sightings).toEqual([])
  expect((await looker(store, rule, 0.93)(NOW)).sightings).toMatchObject([
    { title: '93 % of the disk of the database is used' },
  ])
  // It counts by whole percents.
  const counts = await Promise.all([0.921, 0.929].map((use) => looker(store, rule, use)(NOW)))
  expect(counts.map(({ sightings }) => sightings[0]?.count)).toEqual([0.93, 0.93])
  expect((await looker(store, rule, null)(NOW)).sightings).toEqual([])
})

test('an endpoint is suspect when signatures fail since its last success, and no longer after one', async () => {
  const store = openTestStore()
  const endpoint = planEndpoint({ name: 'shop' }, NOW)
  await store.addEndpoint(endpoint)
  const look = looker(store, { when: 'endpoint.suspect', over: 1 })
  const refuse = (at: number) => {
    const refusal = { id: newId('dlv', at), endpointId: endpoint.id, receivedAt: at, bodyBytes: 9, facts: {} }
    return store.saveRefusal({ ...refusal, verdict: 'bad_signature' })
  }
  const succeed = (event: string, at: number) =>
    store.saveDelivery(incoming(event, { endpointId: endpoint.id, receivedAt: at, facts: { secret: 0 } }))
  await refuse(NOW)
  await refuse(NOW)
  expect((await look(NOW)).sightings).toEqual([])
  await succeed('evt_1', NOW)
  await refuse(NOW + HOUR)
  expect((await look(NOW + HOUR)).sightings).toEqual([])
  await refuse(NOW + HOUR)
  expect((await look(NOW + HOUR)).sightings).toMatchObject([{ count: 2, page: '/endpoints/shop' }])
  await succeed('evt_2', NOW + 2 * HOUR)
  expect((await look(NOW + 2 * HOUR)).sightings).toEqual([])
})

test('a flood of bad signatures at one endpoint hides no other', async ({ store }) => {
  const [shop, office] = [planEndpoint({ name: 'shop' }, NOW), planEndpoint({ name: 'office' }, NOW)]
  const look = looker(store, { when: 'endpoint.suspect', over: 1 })
  const refuse = async (endpointId: string, count: number, receivedAt: number) => {
    const refusal = { endpointId, receivedAt, verdict: 'bad_signature', bodyBytes: 9, facts: {} } as const
    for (let n = 0; n < count; n++) await store.saveRefusal({ ...refusal, id: newId('dlv', receivedAt) })
  }
  for (const endpoint of [shop, office]) {
    await store.addEndpoint(endpoint)
    const about = { endpointId: endpoint.id, receivedAt: NOW, facts: { secret: 0 } }
    await store.saveDelivery(incoming(`evt_${endpoint.name}`, about))
  }
  await refuse(shop.id, 2, NOW + HOUR)
  await refuse(office.id, 201, NOW + HOUR + 1)
  const seen = (await look(NOW + 2 * HOUR)).sightings.map(({ page, count }) => [page, count])
  expect(Object.fromEntries(seen)).toEqual({ '/endpoints/shop': 2, '/endpoints/office': 201 })
  const patient = looker(store, { when: 'endpoint.suspect', over: 200.5 })
  expect((await patient(NOW + 2 * HOUR)).sightings).toMatchObject([{ page: '/endpoints/office', count: 201 }])
})

test('an endpoint is silent when it takes nothing at an hour at which it usually does', async ({ store }) => {
  const endpoint = planEndpoint({ name: 'shop' }, NOW - 10 * DAY)
  await store.addEndpoint(endpoint)
  await store.saveDelivery(
    incoming('evt_1', { endpointId: endpoint.id, receivedAt: NOW - 2 * HOUR, facts: { secret: 0 } }),
  )
  const look = looker(store, { when: 'endpoint.silent', forMs: HOUR })
  let counted: number | null = null
  const takeOn = async (days: number[]) => {
    for (const day of days) {
      const hour = Math.floor((NOW - day * DAY - HOUR / 2) / HOUR)
      const deliveries = [{ hour, endpointId: endpoint.id, verdict: 'accepted', deliveries: 3 } as const]
      await store.saveHour({ hour, version: 0, counted }, { runs: [], deliveries })
      counted = hour
    }
  }
  await takeOn([1, 2, 3])
  expect((await look(NOW)).sightings).toEqual([])
  await takeOn([4])
  expect((await look(NOW)).sightings).toMatchObject([{ page: '/endpoints/shop' }])
  expect((await look(NOW - HOUR - 1)).sightings).toEqual([])
})

test('runs of one workflow that wait for a person hide no other, however many they are', async ({ store }) => {
  await queueRun(store, 'evt_1', 'copies', NOW - DAY)
  makeRuns(store.folder, 1_001, 'pending', NOW)
  const db = new Database(join(store.folder, 'upshot.db'))
  db.exec(`UPDATE work SET status = 'waiting', reason = 'it diverged'`)
  db.close()
  const about = async (part: Partial<AlertRule>) =>
    (await looker(store, { when: 'run.waits', ...part })(NOW)).sightings.map(({ id, count }) => [id, count])
  expect(await about({})).toEqual([
    ['copies', 1],
    ['w', 1_001],
  ])
  expect(await about({ workflow: 'copies' })).toEqual([['copies', 1]])
})

test('files that a slow sweep finds missing are told together, once it is over', async () => {
  const world = new SweepWorld(openTestStore())
  const look = looker(world.store, { when: 'event.missing' })
  for (let n = 0; n < 4; n++) world.add()
  let { position } = await look(NOW)
  const counts: number[] = []
  const lookAgain = async () => {
    const found = await look(world.clock.now(), position)
    position = found.position
    counts.push(...found.sightings.map(({ count }) => count))
  }
  await world.run(HOUR, lookAgain)
  for (let n = 0; n < 3; n++) world.add()
  await world.run(5 * HOUR, lookAgain)
  await lookAgain()
  expect(await world.findings()).toHaveLength(3)
  expect(counts).toEqual([3])
})

test('many missing files of one storage hide none of another', async ({ store }) => {
  const look = looker(store, { when: 'event.missing' })
  const { position } = await look(NOW)
  const plan = { path: '/', recursive: true, everyMs: 1, budget: 0.1, graceMs: 1, repair: 'report' } as const
  const save = async (storage: 'storage_a' | 'storage_b', files: number, foundAt: number) => {
    const place = { account: 'default', storage }
    const state = { ...beginSweep(newState({ ...place, ...plan }, null), NOW), phase: 'idle' } as const
    const about = { state: 'missing', sweep: 1, foundAt, path: '/a', entry: '{}', type: 'file.created' } as const
    const none = { reason: null, approval: null, event: null, lateEvent: null }
    const findings = Array.from({ length: files }, (_, n) => ({ ...place, ...about, ...none, file: `fil_${n}` }))
    await store.saveSweep({ ...place, state, version: 0, forgottenTo: null }, { findings })
  }
  await save('storage_a', 1, NOW)
  await save('storage_b', 1_000, NOW + 1)
  expect((await look(NOW + 2, position)).sightings.map(({ id, count }) => [id, count])).toEqual([
    ['storage_a', 1],
    ['storage_b', 1_000],
  ])
})

test('an operation on many runs is told once when it has ended, even if it is committed late', async ({ store }) => {
  const look = looker(store, { when: 'operation.done' })
  const operator = { actor: 'anna', role: 'admin', from: 'here', reason: null }
  const plan = { kind: 'cancel', filter: {}, operator, perSecond: null, createdAt: NOW } as const
  const [one, other] = [newId('opr', NOW), newId('opr', NOW)]
  for (const id of [one, other]) await store.startBulk({ id, ...plan })
  const first = await look(NOW + 5_000)
  await store.abortBulk(one, NOW + 9_000)
  const second = await look(NOW + 10_000, first.position)
  expect(second.sightings).toEqual([])
  await store.abortBulk(other, NOW + 8_000)
  const third = await look(NOW + 20_000, second.position)
  expect(third.sightings).toMatchObject([{ title: /cancel.*aborted/ }, { title: /cancel.*aborted/ }])
  expect(new Set(third.sightings.map(({ id }) => id))).toEqual(new Set([one, other]))
  expect((await look(NOW + 30_000, third.position)).sightings).toEqual([])
  // One ends while the clock is a year ahead, and another after it was set back.
  const [far, late] = [newId('opr', NOW), newId('opr', NOW)]
  for (const id of [far, late]) await store.startBulk({ id, ...plan })
  await store.abortBulk(far, NOW + 365 * DAY)
  const ahead = await look(NOW + 365 * DAY + 10_000, third.position)
  expect(ahead.sightings).toMatchObject([{ id: far }])
  const back = await look(NOW + 40_000, ahead.position)
  await store.abortBulk(late, NOW + 41_000)
  expect((await look(NOW + 50_000, back.position)).sightings).toMatchObject([{ id: late }])
})

test('an operation that ended late is told behind a hundred newer ones', async ({ store }) => {
  const look = looker(store, { when: 'operation.done' })
  const operator = { actor: 'anna', role: 'admin', from: 'here', reason: null }
  const plan = { kind: 'cancel', filter: {}, operator, perSecond: null, createdAt: NOW } as const
  const ids = Array.from({ length: 121 }, () => newId('opr', NOW))
  for (const id of ids) await store.startBulk({ id, ...plan })
  const { position } = await look(NOW + 5_000)
  await store.abortBulk(ids[0] ?? '', NOW + 9_000)
  expect((await look(NOW + 20_000, position)).sightings).toMatchObject([{ id: ids[0] }])
})

test('each new difference of a shadow is told once, and anew for edited code', async () => {
  const rule = { ...RULE, when: 'shadow.differs', workflow: 'tidy' } as const
  const asked: ShadowStretch[] = []
  let code: string | null = '1'
  let keys: string[] | null = []
  const previewShadows = (stretch: ShadowStretch) => {
    asked.push(stretch)
    const groups = keys?.map((key) => ({ key, count: 1, bytes: 0, changes: [], samples: [] }))
    const error = code === null ? 'it loops' : null
    return groups ? { until: stretch.until, found: [{ workflow: 'tidy', code, groups, error }] } : null
  }
  const parts = { store: openTestStore(), readDiskUse: async () => null, previewShadows }
  let position: string | null = null
  const look = async (minute: number) => {
    const found = await lookFor(parts, rule, { position, topics: [] }, NOW + minute * 60_000)
    position = found.position
    return found.sightings.map(({ title, command }) => [title, command])
  }
  expect([await look(0), await look(0.5), asked]).toEqual([[], [], []])
  keys = null
  expect(await look(1)).toEqual([])
  keys = ['+ new']
  expect(await look(2)).toEqual([['the shadow of tidy differs: others', 'backtest tidy --shadow']])
  const [since, until] = [NOW - 300_000, NOW - 180_000]
  expect(asked.map((each) => each.since)).toEqual([since, since])
  expect(asked.at(-1)).toEqual({ rule: RULE.name, workflow: 'tidy', since, until })
  expect(await look(3)).toEqual([])
  code = '2'
  expect(await look(24 * 60)).toHaveLength(1)
  expect(asked.at(-1)).toMatchObject({ since: NOW - 120_000, until: NOW - 120_000 + HOUR })
  code = null
  expect(await look(25 * 60)).toContainEqual([
    'the shadow of tidy cannot be replayed: it loops',
    'backtest tidy --shadow',
  ])
  // The clock was ahead, and is set back by more than a day.
  for (const minute of [0, 1]) await look(minute)
  expect(asked.at(-1)).toMatchObject({ since: NOW - 300_000, until: NOW - 240_000 })
})

test('a clock that was a year ahead hides no failure after it is set back', async ({ store }) => {
  const look = looker(store, {})
  await failRun(store, NOW + 365 * DAY)
  const ahead = await look(NOW + 365 * DAY + 10_000, `${NOW}/`)
  expect(ahead.sightings).toHaveLength(1)
  const back = await look(NOW, ahead.position)
  await failRun(store, NOW + 1_000)
  expect((await look(NOW + 10_000, back.position)).sightings).toMatchObject([{ at: NOW + 1_000 }])
})

const ASKED = { ...RULE, when: 'approval.asked' } as const

function lookAtAsked(store: Partial<Store>, { position, topics }: AlertBook = EMPTY_BOOK) {
  const parts = { store: { ...openTestStore(), ...store }, readDiskUse: async () => null, previewShadows: () => null }
  return lookFor(parts, ASKED, { position, topics }, NOW)
}

test('an approval of lost events says that they ask to be made up', async () => {
  const repair = { id: 'apr_1', kind: 'repair', workflow: null, account: 'acme', openedAt: NOW, openItems: 60 }
  const listApprovals = async () => [repair] as unknown as Approval[]
  expect((await lookAtAsked({ listApprovals })).sightings).toMatchObject([
    { title: '60 lost events of account acme ask to be made up' },
  ])
})

test('a thousand newer approvals do not make an older one look over', async () => {
  const ask = (id: string, status = 'open') =>
    ({ id, kind: 'question', workflow: 'w', account: 'default', openedAt: NOW, openItems: 0, status }) as Approval
  const first = takeIn(
    ASKED,
    EMPTY_BOOK,
    await lookAtAsked({ listApprovals: async () => [ask('apr_2'), ask('apr_1')] }),
    NOW,
  )
  const newer = Array.from({ length: 1_000 }, (_, n) => ask(`apr_9${String(n).padStart(3, '0')}`))
  const findApproval = async (id: string) => ask(id, id === 'apr_1' ? 'approved' : 'open')
  const seen = takeIn(ASKED, first, await lookAtAsked({ listApprovals: async () => newer, findApproval }, first), NOW)
  expect(seen.topics.find(({ id }) => id === 'apr_2')).toMatchObject({ endedAt: null })
  expect(seen.topics.find(({ id }) => id === 'apr_1')?.endedAt ?? NOW).toBe(NOW)
})
