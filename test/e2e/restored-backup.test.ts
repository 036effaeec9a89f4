import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { formatAnchor } from '../../src/core/safety/ledger/anchor.ts'
import { asOperator } from '../../src/core/store/as-operator.ts'
import { backUp } from '../../src/project/data-dir/maintain-database.ts'
import { deleteFiles } from '../contract/support/delete-files.ts'
import { haveStatus } from '../support/await-runs.ts'
import { openStaging } from './support/staging.ts'

const TIDY = `async ({ files, step }) => {
  await step.waitFor('go', { on: 'file.moved', timeout: '1d' })
  const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
  for (const file of items) await files.delete(file)
}`

const BY = { actor: 'cli:ada', role: 'owner', from: 'here', reason: 'the disk was lost' }

test('a backup in the place of the database deletes nothing again, until a person says that it may', async () => {
  const staging = await openStaging(TIDY)
  const listFiles = () => staging.listFiles().flatMap(({ path, size }) => (size === null ? [] : [path]))
  const anchorFile = join(staging.dataDir, 'effects.anchors')
  const start = (file = anchorFile) => staging.start('live', { anchorFile: file })
  const first = await start()
  await first.deliver('evt_1')
  await first.runs(haveStatus({ waiting: 1 }))
  const copy = join(staging.dataDir, 'monday.db')
  await backUp(first.config, copy, { onProgress() {}, signal: new AbortController().signal })
  await first.deliver('evt_2', 'file.moved')
  await first.runs(haveStatus({ completed: 1 }))
  await first.app.stop()
  expect(listFiles()).toEqual([])

  for (const end of ['-wal', '-shm']) rmSync(join(staging.dataDir, `upshot.db${end}`), { force: true })
  copyFileSync(copy, join(staging.dataDir, 'upshot.db'))
  // As on another machine, whose file has only the anchors of before.
  const lost = join(staging.dataDir, 'lost.anchors')
  copyFileSync(anchorFile, lost)
  await staging.sandbox.storage('storage_a').put('/in/a.txt', 'put back by its owner')
  const second = await start()
  expect(second.heard).toContainEqual({ kind: 'effects.restored', anchoredAt: expect.any(Number) })
  await second.deliver('evt_2', 'file.moved')
  const [held] = await second.runs(([run]) => run?.reason?.includes('backup') ?? false)
  expect(held).toMatchObject({ status: 'waiting', reason: expect.stringContaining('upshot effects restored') })
  expect(listFiles()).toEqual(['/in/a.txt'])

  const { store, clock } = second.app
  const operator = asOperator(store, BY, clock)
  await operator.noteRestored({ actor: BY.actor, reason: BY.reason, now: clock.now() })
  await operator.resumeEffects({ kind: 'all', name: '' }, { ...BY, now: clock.now() })
  await second.runs(haveStatus({ completed: 1 }))
  expect(listFiles()).toEqual([])
  await second.app.stop()

  const third = await start(lost)
  expect(await third.app.store.listStops()).toEqual([])
})

test('a scheduler alone stops all effects, because it has the anchors of workers on other machines', async () => {
  const staging = await openStaging(TIDY)
  const anchorFile = join(staging.dataDir, 'scheduler.anchors')
  writeFileSync(anchorFile, formatAnchor({ seal: 9, last: 40, at: Date.now(), mac: 'ab'.repeat(32) }))
  const { app, heard } = await staging.start('live', { anchorFile, role: 'scheduler' })
  expect(heard).toContainEqual({ kind: 'effects.restored', anchoredAt: expect.any(Number) })
  expect(await app.store.listStops()).toMatchObject([{ kind: 'all', reason: expect.stringContaining('backup') }])
})

test('a process whose database loses the seals of a moment ago stops all effects as it runs', async () => {
  const staging = await openStaging(TIDY)
  const { app, heard } = await staging.start('live', { role: 'scheduler' })
  await deleteFiles(app.store, ['a'])
  await expect.poll(async () => (await app.store.readSealState()).unsealed).toBe(0)
  const db = new Database(join(staging.dataDir, 'upshot.db'))
  for (const name of ['effect_seal', 'effect']) {
    const triggers = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?`).pluck()
    for (const trigger of triggers.all(name)) db.exec(`DROP TRIGGER ${trigger}`)
    db.exec(`DELETE FROM ${name}`)
  }
  db.close()
  await expect.poll(() => heard).toContainEqual({ kind: 'effects.restored', anchoredAt: expect.any(Number) })
  expect(await app.store.listStops()).toMatchObject([{ kind: 'all' }])
})
