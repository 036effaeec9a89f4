import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../../src/core/incoming/signature.ts'
import { anchorOf } from '../../../src/core/safety/ledger/anchor.ts'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import { planAccount } from '../../../src/core/service/account.ts'
import { resealSecrets } from '../../../src/project/data-dir/reseal-secrets.ts'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'
import { takeProcessLock } from '../../../src/store/sqlite/database/process-lock.ts'
import { resealDatabase } from '../../../src/store/sqlite/upkeep/reseal-database.ts'
import { deleteFiles } from '../../contract/support/delete-files.ts'
import { claimLease } from '../../contract/support/waiting-runs.ts'
import { checkpoint, NOW } from '../../support/fixtures.ts'
import { openDataDir } from '../../support/open-data-dir.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const OPERATOR = { actor: 'cli:ada', role: 'owner', from: 'host', reason: 'the key leaked' }

type Place = { dataDir: string; secretKey: string | null }

/** The keys of the tokens, which a new key of the vault leaves as they are. */
const hookKeys = new Map<string, string>()
const HOOK = {
  id: 'hok_1',
  account: 'default',
  ask: null,
  data: null,
  isMany: false,
  openedAt: NOW,
  expiresAt: NOW + 1,
  sign: { scheme: SCHEME_PRESETS.hex, secret: 'the secret of a scanner' },
}

const secretOf = (name: string) => `the webhook secret of ${name}`
const textKey = (byte: number) => Buffer.alloc(32, byte).toString('base64')

/** Stores two webhook secrets, two API keys and a captured delivery. */
async function fill(place: Place) {
  const store = openDataDir(place)
  const [main, learning] = ['main', 'new'].map((name) => planEndpoint({ name, secret: secretOf(name) }, NOW))
  if (!main || !learning) throw new Error('no endpoints')
  await store.addEndpoint(main)
  await store.addEndpoint({ ...learning, status: 'learning' })
  const keys = { apiKey: 'sk_present', fallbackKey: 'sk_before' }
  const storages = { storage_a: 'a', storage_b: 'b', storage_c: 'c' }
  await store.saveAccount(
    planAccount({ name: 'shop', baseUrl: 'https://api.example.com/v1', plan: 'free', storages, ...keys }, NOW),
  )
  const capture = {
    id: 'dlv_1',
    endpointId: learning.id,
    receivedAt: NOW,
    headers: { a: 'b' },
    body: Buffer.from('{}'),
  }
  await store.saveCapture(capture)
  const lease = await claimLease(store)
  await store.saveCheckpoint(lease, checkpoint('scan', { kind: 'hook', target: HOOK.id }), undefined, { hook: HOOK })
  hookKeys.set(place.dataDir, await store.loadHookKey())
  await store.addApprover({ name: 'anna', publicKey: 'a key', roles: [], addedAt: NOW, removedAt: null })
  await store.close()
}

async function readAll(place: Place) {
  const store = openDataDir(place)
  try {
    const endpoints = await store.listEndpoints()
    const accounts = await store.listAccounts()
    const captures = await Promise.all(endpoints.map(({ id }) => store.listCaptures(id)))
    return {
      secrets: endpoints.flatMap(({ secrets }) => secrets.map(({ value }) => value)),
      keys: accounts.map(({ apiKey, fallbackKey }) => [apiKey, fallbackKey]),
      captures: captures.flat().map(({ body }) => Buffer.from(body).toString()),
      approvers: (await store.listApprovers()).map(({ publicKey }) => publicKey),
      hooks: [
        (await store.findHook('hok_1'))?.sign?.secret,
        hookKeys.get(place.dataDir) === (await store.loadHookKey()),
      ],
    }
  } finally {
    await store.close()
  }
}

const EVERYTHING = {
  secrets: ['main', 'new'].map(secretOf),
  keys: [['sk_present', 'sk_before']],
  captures: ['{}'],
  approvers: ['a key'],
  hooks: [HOOK.sign.secret, true],
}

async function filledPlace(secretKey: string | null = null) {
  const place = { dataDir: tempFolder(), secretKey }
  await fill(place)
  const keyFile = join(place.dataDir, 'secret.key')
  return { place, keyFile, file: join(place.dataDir, 'upshot.db') }
}

test('resealSecrets seals everything under a new key file and keeps the old one beside it', async () => {
  const { place, keyFile } = await filledPlace()
  const old = readFileSync(keyFile, 'utf8')
  expect(await resealSecrets(place, null, OPERATOR)).toEqual({
    webhookSecrets: 2,
    apiKeys: 2,
    captures: 1,
    sealKeys: 0,
    approvers: 1,
    hooks: 2,
    keyFiles: { present: keyFile, before: `${keyFile}.old` },
  })
  expect(await readAll(place)).toEqual(EVERYTHING)
  expect(readFileSync(keyFile, 'utf8')).not.toBe(old)
  expect(readFileSync(`${keyFile}.old`, 'utf8')).toBe(old)
  expect([keyFile, `${keyFile}.old`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
  expect(existsSync(`${keyFile}.next`)).toBe(false)
  await expect(readAll({ ...place, secretKey: old })).rejects.toMatchObject({ code: 'invalid_config' })
})

test('resealSecrets takes a given key, whether the old one is in a file or in the environment', async () => {
  const inFile = await filledPlace()
  await resealSecrets(inFile.place, textKey(1), OPERATOR)
  expect(readFileSync(inFile.keyFile, 'utf8').trim()).toBe(textKey(1))
  expect(await readAll(inFile.place)).toEqual(EVERYTHING)

  const { place, keyFile } = await filledPlace(textKey(2))
  expect(await resealSecrets(place, textKey(3), OPERATOR)).toMatchObject({ webhookSecrets: 2, keyFiles: null })
  expect(await readAll({ ...place, secretKey: textKey(3) })).toEqual(EVERYTHING)
  await expect(readAll(place)).rejects.toMatchObject({ code: 'invalid_config' })
  expect(existsSync(keyFile)).toBe(false)
})

test('the chain over the effect ledger goes on with a new key, and keeps its anchors', async () => {
  const place = { dataDir: tempFolder(), secretKey: null }
  const fillLedger = async (name: string) => {
    const store = openDataDir(place)
    await deleteFiles(store, [name])
    const { head } = await store.sealEffects({ now: NOW, limit: 10 })
    await store.close()
    if (!head) throw new Error('nothing was sealed')
    return anchorOf(head, NOW)
  }
  const before = await fillLedger('a')
  expect(await resealSecrets(place, null, OPERATOR)).toMatchObject({ sealKeys: 1 })
  const anchors = [before, await fillLedger('b')]
  const store = openDataDir(place)
  expect(await store.listSeals({ limit: 9 })).toMatchObject([
    { kind: 'rows', key: 1 },
    { kind: 'rekeyed', key: 2 },
    { kind: 'rows', key: 2 },
  ])
  expect(await verifyLedger(store, { anchors })).toMatchObject({ passed: true, sealed: 4, anchored: anchors[1] })
  expect((await verifyLedger(store, { anchors: [before] })).anchored).toEqual(before)
  await store.close()
})

test('resealSecrets refuses beside a process that has the database open, even one that is asleep', async () => {
  const { place } = await filledPlace()
  const asleep = openDataDir(place)
  await asleep.checkWritable(NOW)
  await expect(resealSecrets(place, null, OPERATOR)).rejects.toThrow(/Another process has the database/)
  await asleep.close()
  expect(await readAll(place)).toEqual(EVERYTHING)
  expect(await resealSecrets(place, null, OPERATOR)).toMatchObject({ webhookSecrets: 2 })
})

test('a second call beside one at work is refused, and leaves the key that the first one prepared', async () => {
  const { place, keyFile } = await filledPlace()
  const first = takeProcessLock(`${keyFile}.lock`)
  const prepared = randomBytes(32).toString('base64')
  writeFileSync(`${keyFile}.next`, prepared)
  await expect(resealSecrets(place, null, OPERATOR)).rejects.toMatchObject({ code: 'conflict' })
  expect(readFileSync(`${keyFile}.next`, 'utf8')).toBe(prepared)
  first?.release()
  expect(await resealSecrets(place, null, OPERATOR)).toMatchObject({ webhookSecrets: 2 })
  expect(await readAll(place)).toEqual(EVERYTHING)
  expect(existsSync(`${keyFile}.lock`)).toBe(false)
})

test('a database that cannot be read costs no key of a change that was interrupted', async () => {
  const { place, keyFile, file } = await filledPlace()
  const next = Buffer.alloc(32, 5)
  const present = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64')
  // As after a kill between the commit and the new name of the key file.
  await resealDatabase(
    file,
    { present, next },
    { ...OPERATOR, action: 'db.reseal', target: null, parameters: {}, at: NOW },
  )
  writeFileSync(`${keyFile}.next`, next.toString('base64'), { mode: 0o600 })
  const db = new Database(file)
  const page = db.prepare<[], number>(`SELECT rootpage FROM sqlite_schema WHERE name = 'account'`).pluck().get() ?? 0
  const size = Number(db.pragma('page_size', { simple: true }))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  const handle = openSync(file, 'r+')
  writeSync(handle, randomBytes(size), 0, size, (page - 1) * size)
  closeSync(handle)
  await expect(resealSecrets(place, null, OPERATOR)).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(readFileSync(`${keyFile}.next`, 'utf8')).toBe(next.toString('base64'))
})

test('resealSecrets demands a new key where the old one is in the environment', async () => {
  const { place } = await filledPlace(textKey(2))
  await expect(resealSecrets(place, null, OPERATOR)).rejects.toThrow(/a new key must be given/)
  await expect(resealSecrets(place, 'short', OPERATOR)).rejects.toThrow(/32 bytes/)
  expect(await readAll(place)).toEqual(EVERYTHING)
})

test('resealSecrets changes nothing if one secret cannot be opened', async () => {
  const { place, file, keyFile } = await filledPlace()
  const db = new Database(file)
  db.exec('UPDATE account SET fallback_key = api_key')
  const sealedIn = (it: typeof db) =>
    it.prepare('SELECT sealed FROM endpoint_secret ORDER BY endpoint_id').pluck().all()
  const [before, key] = [sealedIn(db), readFileSync(keyFile, 'utf8')]
  db.close()
  await expect(resealSecrets(place, null, OPERATOR)).rejects.toThrow(/does not open with this key/)
  const again = new Database(file)
  expect(sealedIn(again)).toEqual(before)
  expect(readFileSync(keyFile, 'utf8')).toBe(key)
  again.close()
})

test.each([
  { where: 'before the commit', isSealed: false },
  { where: 'between the commit and the rename', isSealed: true },
])('resealSecrets finishes a call that was interrupted $where', async ({ isSealed }) => {
  const { place, file, keyFile } = await filledPlace()
  const present = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64')
  const next = randomBytes(32)
  writeFileSync(`${keyFile}.next`, next.toString('base64'))
  if (isSealed)
    await resealDatabase(
      file,
      { present, next },
      { ...OPERATOR, action: 'db.reseal', target: null, parameters: {}, at: 1 },
    )
  if (isSealed) await expect(resealSecrets(place, textKey(4), OPERATOR)).rejects.toThrow(/was interrupted/)
  await resealSecrets(place, null, OPERATOR)
  expect(await readAll(place)).toEqual(EVERYTHING)
  expect(readFileSync(`${keyFile}.old`, 'utf8').trim()).toBe(present.toString('base64'))
  expect(existsSync(`${keyFile}.next`)).toBe(false)
})

test('resealSecrets ignores the rest of an interrupted call on a database without secrets', async () => {
  const place = { dataDir: tempFolder(), secretKey: null }
  const keyFile = join(place.dataDir, 'secret.key')
  writeFileSync(`${keyFile}.next`, textKey(5))
  expect(await resealSecrets(place, textKey(6), OPERATOR)).toMatchObject({ webhookSecrets: 0, apiKeys: 0, captures: 0 })
  expect(readFileSync(keyFile, 'utf8').trim()).toBe(textKey(6))
})

test('every BLOB column is known as sealed or not sealed', () => {
  const db = new Database(':memory:')
  migrate(db)
  const blobs = db
    .prepare(
      `SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c
       WHERE m.type = 'table' AND c.type = 'BLOB' ORDER BY 1`,
    )
    .pluck()
    .all()
  // A new column belongs into SEALED_COLUMNS, or into `unsealed` here.
  const unsealed = [
    'large_output.packed',
    'event.body_hash',
    'event.identity',
    'event_filter.filters',
    'approval_vote.signature',
    'effect_seal.digest',
    'effect_seal.mac',
  ]
  const secrets = ['account.api_key', 'account.fallback_key', 'capture.sealed', 'endpoint_secret.sealed']
  const sealed = [...secrets, 'approver.sealed', 'effect_key.sealed', 'hook.sealed', 'hook_key.sealed']
  expect(blobs).toEqual([...sealed, ...unsealed].sort())
})
