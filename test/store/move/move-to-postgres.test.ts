import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import { newState } from '../../../src/core/service/sweep/sweep-state.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { EventMatcher } from '../../../src/engine/event-matcher.ts'
import { type MoveReport, moveToPostgres } from '../../../src/store/move/move-to-postgres.ts'
import { LEFT_OUT } from '../../../src/store/move/table-selects.ts'
import { openPostgresStore, withSession } from '../../../src/store/postgres/open-postgres-store.ts'
import { verifyPostgres } from '../../../src/store/postgres/upkeep/verify-postgres.ts'
import { askAdmission, concurrency } from '../../contract/support/ask-admission.ts'
import { beginDelete } from '../../contract/support/begin-delete.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, eventBody, incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { makeSchema } from '../../support/postgres-store.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { openTestStore, testVaultKey } from '../../support/test-store.ts'

type Place = ReturnType<typeof makeSchema>

const options = { now: NOW, onProgress: () => {} }

function targetOf({ url, schema }: Place) {
  return { hosts: [{ connectionString: url }], schema, vaultKey: testVaultKey }
}

async function openTarget(place: Place): Promise<Store> {
  const store = await openPostgresStore(targetOf(place))
  onTestFinished(() => store.close())
  return store
}

function move(file: string, place: Place): Promise<MoveReport> {
  return moveToPostgres(file, targetOf(place), options)
}

async function query(place: Place, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: place.url, options: `-c search_path=${place.schema}` })
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

const KEY = { account: 'north', storage: 'storage_a' } as const
const PLAN = { ...KEY, path: '/', recursive: true, everyMs: 1, budget: 0.1, graceMs: 1, repair: 'report' } as const
const SWEEP = { ...KEY, state: newState(PLAN, null), version: 0, forgottenTo: null }

/** A database with runs in every state, and what hangs on them. Gives its file. */
async function fill(): Promise<{ file: string; folder: string; runs: Record<string, string> }> {
  const store = openTestStore()
  const runs: Record<string, string> = {}
  const start = async (name: string, part: Parameters<typeof incoming>[1] = {}) => {
    const { runs: made } = await store.saveDelivery(incoming(`evt_${name}`, { workflows: ['follow-up'], ...part }))
    runs[name] = made[0] ?? ''
    return claimNext(store)
  }
  const done = await start('done', { account: 'north' })
  await store.saveCheckpoint(done.lease, checkpoint('a', { output: '"ä\\u0000b"' }))
  await store.completeRun(done.lease, '{"n":1}', NOW)
  const failed = await start('failed', { account: 'south' })
  await beginDelete(store, failed.lease, checkpoint('remove', { target: 'storage_a:fil_1' }))
  await store.failRun(failed.lease, { name: 'Error', message: 'no' }, NOW)
  const waiting = await start('waiting', { account: 'north' })
  const event = { type: 'file.moved', name: 'file', version: '1', account: 'north', value: 'fil_1' }
  const open = checkpoint('wait', { kind: 'wait', status: 'waiting', output: null, finishedAt: null })
  await store.saveCheckpoint(waiting.lease, open, undefined, { wait: { ...event, since: 'run', at: NOW } })
  await store.parkRun(waiting.lease, { dueAt: NOW + 1_000_000, reason: 'waits', awaits: ['wait'] })
  const admitted = await start('admitted')
  await askAdmission(store, admitted, { gates: [concurrency], tags: { customer: 'acme' } })
  const inLine = await start('inLine')
  await askAdmission(store, inLine, { gates: [concurrency] })
  const asked = { path: '/a', bytes: 3, modifiedAt: null }
  const by = { actor: 'cli:ann', reason: 'old', at: NOW }
  await store.beginByHand({ account: 'north', storage: 'a', target: 'a:fil_9', asked, ...by })
  await store.sealEffects({ now: NOW, limit: 100 })
  await store.saveSweep(SWEEP)
  runs.pending = await queueRun(store, 'evt_pending')
  await store.close()
  return { file: join(store.folder, 'upshot.db'), folder: store.folder, runs }
}

test('every run goes on where it was, every event stays known, and the file opens no more', async () => {
  const { file, folder, runs } = await fill()
  const place = makeSchema()
  const { rows } = await move(file, place)
  expect(rows).toMatchObject({ event: 6, event_identity: 6, work: 4, outcome: 2, gate_slot: 2, wait: 1 })

  const store = await openTarget(place)
  expect(await store.findRun(runs.done ?? '')).toMatchObject({ status: 'completed', output: '{"n":1}' })
  expect(await store.listSteps(runs.done ?? '')).toMatchObject([{ key: 'a', status: 'completed' }])
  expect(await store.findRun(runs.failed ?? '')).toMatchObject({ status: 'failed' })
  const again = await store.saveDelivery(incoming('evt_done', { account: 'north' }))
  expect(again.verdict).toBe('duplicate')
  const claimed = await store.claimRuns('wrk_new', 9, NOW)
  expect(claimed.map(({ lease }) => lease.runId).sort()).toEqual([runs.admitted, runs.pending].sort())
  const held = claimed.find(({ lease }) => lease.runId === runs.admitted)
  const tags = { customer: 'acme' }
  expect(held).toMatchObject({ isAdmitted: true, tags, cause: { event: { id: 'evt_admitted' } } })
  // The end of the one lets the other in.
  if (held) await store.completeRun(held.lease, 'null', NOW)
  expect((await store.claimRuns('wrk_new', 9, NOW)).map(({ lease }) => lease.runId)).toEqual([runs.inLine])
  const { checks } = await withSession(targetOf(place), verifyPostgres)
  expect(checks.filter(({ passed }) => !passed)).toEqual([])
  const report = await verifyLedger(store, { anchors: [] })
  expect(report).toMatchObject({ passed: true, faults: [] })
  // New rows are numbered after the old ones.
  const newest = await store.saveDelivery(incoming('evt_new', { account: 'north' }))
  expect(newest.verdict).toBe('accepted')
  expect((await store.listEvents({ limit: 1 }))[0]?.id).toBe('evt_new')
  expect(await store.saveSweep({ ...SWEEP, storage: 'storage_b' })).toBe(true)

  expect(() => openTestStore(folder)).toThrow(/moved to PostgreSQL/)
  expect(await move(file, place)).toEqual({ rows: {} })
})

test('an event that comes after the move ends a wait from before it', async () => {
  const { file, runs } = await fill()
  const place = makeSchema()
  await move(file, place)
  const store = await openTarget(place)
  let read = 0
  const reader = () => () => {
    read += 1
    return 'fil_1'
  }
  // No run begins a wait after the move, so nothing else asks for the events.
  const matcher = new EventMatcher({
    store,
    clock: new ManualClock(NOW),
    publish: () => {},
    keys: { version: () => '1', reader },
    woken: () => {},
    matched: () => {},
    canceled: () => {},
  })
  onTestFinished(() => matcher.stop())
  await matcher.catchUp()
  expect(await store.findRun(runs.waiting ?? '')).toMatchObject({ status: 'waiting' })
  await store.saveDelivery(
    incoming('evt_moved', { account: 'north', body: eventBody('evt_moved', 'file.moved'), workflows: [] }),
  )
  await matcher.catchUp()
  expect(await store.findRun(runs.waiting ?? '')).toMatchObject({ status: 'pending' })
  // Those of before the run are not matched again.
  expect(read).toBe(1)
})

test('no process starts on a target whose move did not end, and the next call ends it', async () => {
  const { file } = await fill()
  const place = makeSchema()
  const copy = `${file}.copy`
  copyFileSync(file, copy)
  await move(file, place)
  // As after a kill between the mark and the end.
  await query(place, 'UPDATE move SET is_done = 0')
  await expect(openPostgresStore(targetOf(place))).rejects.toThrow(/a move that did not end/)
  await move(file, place)
  expect(await (await openTarget(place)).countOpenRuns(NOW)).toMatchObject({ pending: 2 })
  // As after a kill between the commit and the mark: the file was in use meanwhile.
  await query(place, 'UPDATE move SET is_done = 0')
  copyFileSync(copy, join(file, '..', 'upshot.db'))
  expect((await move(file, place)).rows).toMatchObject({ event: 6 })
})

test('a target in use is refused, and so is a file that another process has open, even one asleep', async () => {
  const { file, folder } = await fill()
  const place = makeSchema()
  const target = await openPostgresStore({ ...targetOf(place), mayMigrate: true })
  await queueRun(target, 'evt_other')
  await target.close()
  await expect(move(file, place)).rejects.toMatchObject({ code: 'conflict' })
  const asleep = openTestStore(folder)
  await asleep.saveDelivery(incoming('evt_before'))
  await expect(move(file, makeSchema())).rejects.toThrow(/Another process has the database/)
  await asleep.saveDelivery(incoming('evt_after'))
  await asleep.close()
  expect((await move(file, makeSchema())).rows).toMatchObject({ event: 8 })
})

test('texts with the character 0 are the same before and after, so the seals hold', async () => {
  const store = openTestStore()
  await queueRun(store, 'evt_1')
  const { lease } = await claimNext(store)
  const step = checkpoint('remove', { target: 'storage_a:a\0b' })
  const asked = { path: '/a\0b', bytes: 3, modifiedAt: null }
  await beginDelete(store, lease, step, { operation: 'remove a\0b', asked })
  const error = { name: 'Error', message: 'no a\0b' }
  await store.saveCheckpoint(lease, { ...step, effect: 'delete', status: 'failed', output: null, error })
  await store.beginByHand({
    account: 'north',
    storage: 'storage_a',
    target: 'storage_a:a\0b',
    asked,
    actor: 'cli:ann',
    reason: 'a\0b',
    at: NOW,
  })
  await store.sealEffects({ now: NOW, limit: 100 })
  const before = await store.listEffects({ limit: 10, after: 0 })
  expect(before).toHaveLength(3)
  await store.close()
  const place = makeSchema()
  await move(join(store.folder, 'upshot.db'), place)
  const target = await openTarget(place)
  expect(await target.listEffects({ limit: 10, after: 0 })).toMatchObject(
    before.map(({ eventSeq: _, ...texts }) => texts),
  )
  expect(await verifyLedger(target, { anchors: [] })).toMatchObject({ passed: true, faults: [] })
})

test('a replay of events that is under way is refused, and one that has not begun goes on', async () => {
  const { file, folder } = await fill()
  const store = openTestStore(folder)
  const operator = { actor: 'ann', role: 'operator', from: '', reason: null } as const
  const filter = { until: NOW + 1 }
  const plan = { kind: 'replay', filter, routes: [], operator, perSecond: null, createdAt: NOW } as const
  for (const id of ['opr_1', 'opr_2']) await store.startBulk({ ...plan, id })
  await store.claimBulk('me', NOW)
  const slice = { rows: 2, limit: 2, after: null }
  const { next } = await store.walkEvents(filter, slice)
  await store.countBulk({ id: 'opr_1', owner: 'me', after: null, next }, { total: 2, runs: 2, first: [] }, NOW)
  await store.close()
  await expect(move(file, makeSchema())).rejects.toThrow(/replay of events opr_1 is under way.*/)
  const again = openTestStore(folder)
  await again.abortBulk('opr_1', NOW)
  await again.close()
  const place = makeSchema()
  await move(file, place)
  const target = await openTarget(place)
  expect(await target.claimBulk('me', NOW)).toMatchObject({ id: 'opr_2', cursor: null })
  expect((await target.walkEvents(filter, slice)).items).toHaveLength(2)
})

test('a full disk is named, and the move goes on where there is room', async ({ skip }) => {
  const disk = mountSmallDisk(8)
  if (disk === null) return skip('a file system can be mounted by root on Linux only')
  const { file } = await fill()
  const onDisk = join(disk, 'upshot.db')
  copyFileSync(file, onDisk)
  const filler = join(disk, 'filler')
  expect(() => writeFileSync(filler, Buffer.alloc(9 << 20))).toThrow(/ENOSPC/)
  const place = makeSchema()
  await expect(move(onDisk, place)).rejects.toMatchObject({ code: 'store_unavailable' })
  rmSync(filler)
  expect((await move(onDisk, place)).rows).toMatchObject({ event: 6 })
})

test('every table of PostgreSQL is moved, or is named as one that is not', async () => {
  const { file } = await fill()
  const place = makeSchema()
  const { rows } = await move(file, place)
  const { rows: tables } = await query(
    place,
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
       AND relkind IN ('r', 'p') AND NOT relispartition`,
  )
  expect(Object.keys(rows).concat(LEFT_OUT).sort()).toEqual(tables.map(({ name }) => name).sort())
})

/** Kills before the last call, at moments that follow one another. */
const KILLS = 8

test('a move that is killed again and again loses nothing and doubles nothing', async () => {
  const store = openTestStore()
  for (let n = 0; n < 400; n++) void queueRun(store, `evt_${n}`)
  await queueRun(store, 'evt_last')
  await store.close()
  const file = join(store.folder, 'upshot.db')
  const place = makeSchema()
  const main = join(import.meta.dirname, 'move-main.ts')
  const args = [main, file, place.url, place.schema, testVaultKey.toString('hex')]
  const begin = async () => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    return { child, ended, begunAt: performance.now() }
  }
  const whole = await begin()
  await wait(1)
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, ended } = kill === 0 ? whole : await begin()
    await wait(kill * 40 + Math.random() * 40)
    child.kill('SIGKILL')
    await ended
  }
  const last = await begin()
  expect((await last.ended)[0]).toBe(0)
  const target = await openTarget(place)
  expect(await target.countOpenRuns(NOW)).toMatchObject({ pending: 401 })
  const { rows } = await query(
    place,
    'SELECT (SELECT count(*) FROM event)::int AS events, (SELECT count(*) FROM run)::int AS runs',
  )
  expect(rows).toEqual([{ events: 401, runs: 401 }])
})
