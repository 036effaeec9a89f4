import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { openThreadedStore } from '../../src/store/sqlite/threaded-store.ts'
import { incoming } from '../support/fixtures.ts'
import { openTestStore } from '../support/test-store.ts'

/** In an event's body it takes 64 pages of the log. */
const LARGE = { note: 'n'.repeat(520_000) }

interface Log {
  log: number
  checkpointed: number
}

function openWithEye() {
  const store = openTestStore(undefined, openThreadedStore)
  const file = join(store.folder, 'upshot.db')
  const eye = new Database(file, { readonly: true })
  const look = () => eye.prepare<[], Log>('PRAGMA wal_checkpoint(NOOP)').get() ?? { log: 0, checkpointed: 0 }
  const write = async (from: number, to: number) => {
    for (let n = from; n < to; n++) await store.saveDelivery(incoming(`evt_${n}`, { data: LARGE }))
  }
  return { store, file, eye, look, write }
}

test('copies the log while it is shorter than what makes SQLite copy it within a commit', async () => {
  const { store, eye, look, write } = openWithEye()
  await write(0, 20)
  await vi.waitFor(() => expect(look().checkpointed).toBeGreaterThanOrEqual(700), 5_000)
  expect(look().log).toBeLessThan(2_900)
  eye.close()
  await store.close()
})

test('lets the log begin anew, however long it is written without a pause', async () => {
  const { store, eye, look, write } = openWithEye()
  let most = 0
  for (let n = 0; n < 200; n += 10) {
    await write(n, n + 10)
    most = Math.max(most, look().log)
  }
  // Without that it would have 12,800 pages; while the thread is at work, the log may grow beyond what makes the writer copy.
  expect(most).toBeLessThan(10_000)
  eye.close()
  await store.close()
})

test('leaves no log and no thread behind when the store is closed', async () => {
  const { store, file, eye, look, write } = openWithEye()
  await write(0, 20)
  await vi.waitFor(() => expect(look().checkpointed).toBeGreaterThan(0), 5_000)
  eye.close()
  await store.close()
  // SQLite removes it with the last connection, wherever that was.
  expect(existsSync(`${file}-wal`)).toBe(false)
})
