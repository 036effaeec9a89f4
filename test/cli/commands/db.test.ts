import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { backupDatabase } from '../../../src/store/sqlite/upkeep/backup-database.ts'
import { verifyDatabase } from '../../../src/store/sqlite/upkeep/verify-database.ts'
import { eventBody, incoming } from '../../support/fixtures.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'
import { openTestStore } from '../../support/test-store.ts'
import { runCli } from '../support/run-cli.ts'
import { runHere } from '../support/run-here.ts'

const PAGE_BYTES = 8_192

const quiet = { onProgress: () => {}, signal: new AbortController().signal }

/** A store with this many events, each with a run. */
async function storeWith(events: number, bodyBytes = 100) {
  const store = openTestStore()
  const data = { padding: 'x'.repeat(bodyBytes) }
  await Promise.all(
    Array.from({ length: events }, (_, n) =>
      store.saveDelivery(incoming(`evt_${n}`, { body: eventBody(`evt_${n}`, 'file.created', data) })),
    ),
  )
  return { store, file: join(store.folder, 'upshot.db') }
}

test('a backup copies one point in time while the app writes, and does not start over', async () => {
  const { file } = await storeWith(1_000, 4_000)
  const writer = new Database(file)
  const to = join(tempFolder(), 'backup.db')
  let steps = 0
  const backup = await backupDatabase(file, to, {
    ...quiet,
    onProgress() {
      steps += 1
      writer.exec(
        'UPDATE endpoint_version SET version = version + 1; DELETE FROM run WHERE id = (SELECT min(id) FROM run)',
      )
    },
  })
  const pages = statSync(to).size / PAGE_BYTES
  // Each step copies 128 pages. Without the snapshot, each commit would restart the copy.
  expect(steps).toBeGreaterThan(2)
  expect(steps).toBeLessThanOrEqual(Math.ceil(pages / 128) + 2)
  writer.close()
  expect(backup).toMatchObject({ passed: true, rows: { event: 1_000, run: 1_000 } })
  expect(existsSync(`${to}-wal`)).toBe(false)
})

test('a backup is readable by its owner only, and an app restored from it has everything', async () => {
  const { app, dataDir } = await startTestApp()
  await app.store.saveDelivery(incoming('evt_kept'))
  const to = join(tempFolder(), 'backup.db')
  const { exit, json, stderr } = await runHere(dataDir, ['db', 'backup', to, '--json'])
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  expect(json.data).toMatchObject({ file: to, made: true })
  expect(statSync(to).mode & 0o777).toBe(0o600)

  const restored = tempFolder()
  copyFileSync(to, join(restored, 'upshot.db'))
  copyFileSync(join(dataDir, 'secret.key'), join(restored, 'secret.key'))
  const again = await startTestApp({}, { dataDir: restored })
  expect(await again.app.store.findEvents('evt_kept')).toHaveLength(1)
  // Its secrets are decrypted with the key that was kept apart.
  expect((await again.app.store.listEndpoints())[0]?.secrets[0]?.value).toBe(
    (await app.store.listEndpoints())[0]?.secrets[0]?.value,
  )
})

test('db backup says that the key is not in the backup', async () => {
  const { store } = await storeWith(1)
  const to = join(tempFolder(), 'backup.db')
  const { stderr, stdout } = await runHere(store.folder, ['db', 'backup', to])
  expect(stdout).toContain('1 events, 1 runs')
  expect(stderr).toContain('secret.key, which is not in the backup')
})

test.each([
  ['a file that is there', (to: string) => writeFileSync(to, 'mine'), 1, 'conflict'],
  ['a folder that is not there', null, 5, 'not_found'],
])('db backup refuses %s as its target, and changes nothing', async (_, prepare, exit, code) => {
  const { store } = await storeWith(1)
  const to = join(tempFolder(), prepare === null ? 'none/backup.db' : 'backup.db')
  prepare?.(to)
  expect(await runHere(store.folder, ['db', 'backup', to, '--json'])).toMatchObject({ exit, json: { error: { code } } })
  if (prepare !== null) expect(readFileSync(to, 'utf8')).toBe('mine')
})

test('a backup to where there is no room, or no folder, is no fault of Upshot', async ({ skip }) => {
  const { file } = await storeWith(200, 4_000)
  await expect(backupDatabase(file, '/dev/null/backup.db', quiet)).rejects.toMatchObject({ code: 'not_found' })
  const disk = mountSmallDisk(1)
  if (disk === null) return skip('only root may mount a disk')
  const full = backupDatabase(file, join(disk, 'backup.db'), quiet)
  await expect(full).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('database or disk is full'),
  })
  expect(readdirSync(disk)).toEqual([])
})

test.skipIf(process.platform === 'win32')(
  'a data folder that cannot be entered is not one without a database',
  async () => {
    const folder = join(tempFolder(), 'loop')
    // Fails for root as well, whom no mode keeps out.
    symlinkSync(folder, folder)
    const { exit, json } = await runHere(folder, ['runs', 'list', '--json'])
    expect({ exit, message: json.error.message }).toEqual({
      exit: 6,
      message: `Cannot open the data directory ${folder} (ELOOP).`,
    })
  },
)

test('effects verify says of a damaged database that it is', async () => {
  const store = openTestStore()
  await store.close()
  const file = join(store.folder, 'upshot.db')
  writeFileSync(file, 'no database'.padEnd(PAGE_BYTES))
  const { exit, json } = await runHere(store.folder, ['effects', 'verify', '--json'])
  expect(exit).toBe(6)
  expect(json).toMatchObject({ error: { code: 'store_unavailable', message: expect.stringContaining('is damaged') } })
})

test('a backup does not overwrite a file that was created while it was copying', async () => {
  const { file } = await storeWith(200, 4_000)
  const to = join(tempFolder(), 'backup.db')
  const late = backupDatabase(file, to, { ...quiet, onProgress: () => writeFileSync(to, 'mine') })
  await expect(late).rejects.toMatchObject({ code: 'conflict' })
  expect(readFileSync(to, 'utf8')).toBe('mine')
  expect(readdirSync(dirname(to))).toEqual(['backup.db'])
})

test('a backup removes what a killed one left in the folder, once it is a day old, and nothing else', async () => {
  const { file } = await storeWith(1)
  const to = join(tempFolder(), 'tuesday.db')
  const part = 'monday.db.0b3cd1ae-8c5e-4f6e-9d5b-1f2e3d4c5b6a.backup.part'
  const download = 'report.0b3cd1ae-8c5e-4f6e-9d5b-1f2e3d4c5b6a.part'
  const fresh = part.replace('monday', 'now')
  for (const name of [part, `${part}-journal`, 'monday.db', download, fresh]) {
    writeFileSync(join(dirname(to), name), 'half')
    if (name !== fresh) utimesSync(join(dirname(to), name), 0, 0)
  }
  await backupDatabase(file, to, quiet)
  expect(readdirSync(dirname(to)).sort()).toEqual(['monday.db', fresh, download, 'tuesday.db'])
})

test('a backup that is interrupted, or is not sound, leaves no file behind', async () => {
  const { file } = await storeWith(200, 4_000)
  const controller = new AbortController()
  const to = join(tempFolder(), 'backup.db')
  const interrupted = backupDatabase(file, to, { onProgress: () => controller.abort(), signal: controller.signal })
  await expect(interrupted).rejects.toMatchObject({ name: 'AbortError' })
  const db = new Database(file)
  db.exec('PRAGMA foreign_keys = OFF; DELETE FROM event WHERE seq = 1')
  db.close()
  await expect(backupDatabase(file, to, quiet)).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(readdirSync(dirname(to))).toEqual([])
})

test.each([
  ['every run has its event', 'DELETE FROM event WHERE seq = 2'],
  [
    'every step has its run',
    `INSERT INTO step (run_id, key, position, kind, effect, status, attempt, started_at)
     VALUES ('run_none', 'a', 0, 'run', 'read', 'completed', 1, 0)`,
  ],
  [
    'every failed attempt has its run',
    "INSERT INTO step_failure (run_id, key, attempt, failed_at, error) VALUES ('run_none', 'a', 1, 0, '{}')",
  ],
  [
    'every large result is there',
    `INSERT INTO step (run_id, key, position, kind, effect, status, attempt, apart_bytes, started_at)
     SELECT id, 'large', 9, 'run', 'read', 'completed', 1, 70000, 0 FROM run LIMIT 1`,
  ],
  ['every run at work has a worker', "UPDATE work SET status = 'running', worker = NULL"],
  ['every run is in the queue or has an end, and not both', 'DELETE FROM work'],
  [
    'every slot belongs to an unfinished run',
    "INSERT INTO gate_slot VALUES ('w', 'g', 'k', 1, 0, 'run_none', 0, NULL)",
  ],
  ['every wait belongs to an unfinished run', "INSERT INTO wait (run_id, key) VALUES ('run_none', 'k')"],
  ['schema', 'PRAGMA user_version = 999'],
  ['schema', 'DROP TABLE tick'],
  ['schema', 'ALTER TABLE run_progress RENAME COLUMN reported_at TO at'],
  [
    'foreign keys',
    `PRAGMA foreign_keys = OFF;
     INSERT INTO endpoint_secret (endpoint_id, position, sealed, active_from) VALUES ('end_none', 0, x'00', 0)`,
  ],
])('verifying a database fails the check "%s" after: %s', async (name, sql) => {
  const { file } = await storeWith(3)
  expect(verifyDatabase(file).passed).toBe(true)
  const db = new Database(file)
  db.exec(sql)
  db.close()
  const { passed, checks } = verifyDatabase(file)
  expect(passed).toBe(false)
  expect(checks.filter((check) => !check.passed).map((check) => check.name)).toEqual([name])
})

test('a database of another checkout is named, though its schema has the same number', async () => {
  const { store, file } = await storeWith(1)
  const db = new Database(file)
  db.exec('ALTER TABLE run_progress RENAME COLUMN reported_at TO at')
  db.close()
  const { exit, json } = await runHere(store.folder, ['runs', 'list', '--json'])
  expect({ exit, ...json.error }).toMatchObject({
    exit: 6,
    code: 'store_unavailable',
    message: expect.stringContaining('has other tables than this Upshot'),
  })
})

test('what is left of a run that is pruned right now is no fault', async () => {
  const { file } = await storeWith(1)
  const db = new Database(file)
  db.exec(`INSERT INTO pruned_run (run_id) VALUES ('run_none');
    INSERT INTO step (run_id, key, position, kind, effect, status, attempt, started_at)
    VALUES ('run_none', 'a', 0, 'run', 'read', 'completed', 1, 0)`)
  db.close()
  expect(verifyDatabase(file).passed).toBe(true)
})

test('db verify finds overwritten pages, and exits with 7', async () => {
  const { store, file } = await storeWith(300, 2_000)
  const copy = join(tempFolder(), 'copy.db')
  await backupDatabase(file, copy, quiet)
  const sound = await runHere(store.folder, ['db', 'verify', copy, '--json'])
  expect(sound).toMatchObject({ exit: 0, json: { ok: true, data: { passed: true, rows: { event: 300 } } } })
  const bytes = readFileSync(copy)
  bytes.fill(0xff, 20 * PAGE_BYTES, 24 * PAGE_BYTES)
  writeFileSync(copy, bytes)
  const broken = await runHere(store.folder, ['db', 'verify', copy, '--json'])
  expect(broken).toMatchObject({ exit: 7, json: { ok: true, data: { passed: false } } })
})

test('db verify tells a file that is not a database from a missing one by exit 6 and 5', async () => {
  const folder = tempFolder()
  const file = join(folder, 'text.db')
  writeFileSync(file, 'no database at all, but long enough to be looked at as one'.repeat(100))
  const [text, none] = await Promise.all([
    runHere(folder, ['db', 'verify', file, '--json']),
    runHere(folder, ['db', 'verify', '--json']),
  ])
  const error = { code: 'store_unavailable', fix: expect.stringContaining('Name another backup') }
  expect(text).toMatchObject({ exit: 6, json: { ok: false, error } })
  expect(none).toMatchObject({ exit: 5, json: { ok: false, error: { code: 'not_found' } } })
  truncateSync(file)
  expect(verifyDatabase(file).passed).toBe(false)
})

test('db prune deletes data older than the retention, after a confirmation', async () => {
  const { store } = await storeWith(1)
  const old = Date.now() - 8 * 86_400_000
  const refusal = { endpointId: null, verdict: 'unknown_endpoint', bodyBytes: null, facts: {} } as const
  for (const receivedAt of [old, old + 1, Date.now()])
    await store.saveRefusal({ ...refusal, id: newId('dlv', receivedAt), receivedAt })
  const asked = await runHere(store.folder, ['db', 'prune', '--json'])
  expect(asked).toMatchObject({ exit: 3, json: { error: { code: 'needs_confirmation' } } })
  const dry = await runHere(store.folder, ['db', 'prune', '--dry-run'])
  expect(dry.stderr).toContain('refused deliveries: 7 days; 2 would go')
  const foreseen = await runHere(store.folder, ['db', 'prune', '--dry-run', '--json'])
  expect(foreseen.json.data).toMatchObject({
    pruned: null,
    prunable: expect.arrayContaining([expect.objectContaining({ kind: 'refusals', rows: 2, isComplete: true })]),
  })
  const { exit, json } = await runHere(store.folder, ['db', 'prune', '--yes', '--json'])
  expect({ exit, refusals: json.data.pruned.refusals }).toEqual({ exit: 0, refusals: 2 })
  const left = await store.listDeliveries({ limit: 10, verdicts: ['unknown_endpoint'] })
  expect(left.map(({ receivedAt }) => receivedAt > old + 1)).toEqual([true])
})

test('db reseal encrypts the secrets with a new key, and refuses while an app is running', async () => {
  const { app, dataDir } = await startTestApp()
  const secretsOf = async (store: typeof app.store) => (await store.listEndpoints()).map(({ secrets }) => secrets)
  const secrets = await secretsOf(app.store)
  const refused = await runHere(dataDir, ['db', 'reseal', '--yes', '--json'])
  expect(refused).toMatchObject({ exit: 1, json: { error: { code: 'conflict' } } })
  expect(refused.json.error.message).toContain(`process ${process.pid}`)
  await app.stop()

  const old = readFileSync(join(dataDir, 'secret.key'), 'utf8')
  expect(await runHere(dataDir, ['db', 'reseal'])).toMatchObject({ exit: 3 })
  expect(await runHere(dataDir, ['db', 'reseal', '--dry-run'])).toMatchObject({
    exit: 0,
    stdout: 'Nothing was changed.\n',
  })
  expect(readFileSync(join(dataDir, 'secret.key'), 'utf8')).toBe(old)
  const { exit, json } = await runHere(dataDir, ['db', 'reseal', '--yes', '--json'])
  expect({ exit, data: json.data }).toMatchObject({
    exit: 0,
    data: { resealed: { webhookSecrets: secrets.flat().length } },
  })
  expect(readFileSync(join(dataDir, 'secret.key'), 'utf8')).not.toBe(old)
  const again = await startTestApp({}, { dataDir })
  expect(await secretsOf(again.app.store)).toEqual(secrets)
})

test('db reseal reads the new key from standard input or a variable, and never shows it', async () => {
  const { store } = await storeWith(1)
  await store.close()
  const key = Buffer.alloc(32, 7).toString('base64')
  const { exit, stdout, stderr } = await runCli(store.folder, ['db', 'reseal', '--yes', '--key-stdin'], { input: key })
  expect({ exit, shown: `${stdout}${stderr}`.includes(key) }).toEqual({ exit: 0, shown: false })
  expect(readFileSync(join(store.folder, 'secret.key'), 'utf8').trim()).toBe(key)
  const wrong = await runHere(store.folder, ['db', 'reseal', '--yes', '--key-env', 'NEW_KEY'], {
    env: { NEW_KEY: 'short' },
  })
  expect(wrong.exit).not.toBe(0)
  expect(wrong.stderr).toContain('32 bytes')
})
