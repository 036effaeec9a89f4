import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { checkpoint, incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { test } from '../../support/test-store.ts'

/** Bytes before the first page of a write-ahead log, and before each page in it. */
const LOG_HEADER = 32
const PAGE_HEADER = 24

/** Names of the indexes whose first page the log holds. Small ones have no other page. */
function writtenIndexes(folder: string): string[] {
  const file = join(folder, 'upshot.db')
  const db = new Database(file, { readonly: true })
  const indexes = db
    .prepare<[], { name: string; page: number }>(
      `SELECT name, rootpage AS page FROM sqlite_master WHERE type = 'index'`,
    )
    .all()
  const pageBytes = db.pragma('page_size', { simple: true }) as number
  db.close()
  const log = readFileSync(`${file}-wal`)
  const pages = new Set<number>()
  for (let at = LOG_HEADER; at + PAGE_HEADER <= log.length; at += PAGE_HEADER + pageBytes)
    pages.add(log.readUInt32BE(at))
  return indexes.filter(({ page }) => pages.has(page)).map(({ name }) => name)
}

function emptyLog(folder: string): void {
  const db = new Database(join(folder, 'upshot.db'))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}

const FOR_A_PERSON = ['outcome_ended_badly', 'outcome_failed', 'work_untimed', 'work_for_person', 'delivery_conflict']

test('a run that goes well writes to no index that only a person asks', async ({ store }) => {
  emptyLog(store.folder)
  await store.saveDelivery(incoming('evt_1'))
  for (const dueAt of [NOW, NOW + 1]) {
    const [run] = await store.claimRuns('wrk_1', 1, NOW + 1)
    if (run === undefined) throw new Error('no run could be claimed')
    await store.saveCheckpoint(run.lease, checkpoint(`step ${dueAt}`))
    await (dueAt === NOW
      ? store.parkRun(run.lease, { dueAt, reason: 'sleeps' })
      : store.completeRun(run.lease, 'null', NOW + 2))
  }
  const written = writtenIndexes(store.folder)
  expect(written).toEqual(expect.arrayContaining(['work_ready', 'work_waiting', 'work_leased']))
  expect(written.filter((name) => FOR_A_PERSON.includes(name))).toEqual([])
})

test('a failure, a run for a person and a conflict are each in their index', async ({ store }) => {
  emptyLog(store.folder)
  for (const end of ['fail', 'park'] as const) {
    await queueRun(store, `evt_${end}`)
    const [run] = await store.claimRuns('wrk_1', 1, NOW)
    if (run === undefined) throw new Error('no run could be claimed')
    if (end === 'fail') await store.failRun(run.lease, { name: 'Error', message: 'no luck' }, NOW)
    else await store.parkRun(run.lease, { dueAt: null, reason: 'code changed' })
  }
  await store.saveDelivery(incoming('evt_fail', { data: { file: { id: 'another' } } }))
  expect(writtenIndexes(store.folder)).toEqual(expect.arrayContaining(FOR_A_PERSON))
})
