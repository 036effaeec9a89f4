import { createSecretKey } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { anchorOf } from '../../../../src/core/safety/ledger/anchor.ts'
import { digestRows, macOf } from '../../../../src/core/safety/ledger/seal.ts'
import { verifyLedger } from '../../../../src/core/safety/ledger/verify-ledger.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { deleteFiles } from '../../../contract/support/delete-files.ts'
import { NOW } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { openTestStore, testVaultKey } from '../../../support/test-store.ts'

type Folder = { folder: string }
const AT = new Date(NOW).toISOString()

let original = ''

/** A ledger of twelve rows in three seals, which each test has a copy of. */
beforeAll(async () => {
  original = mkdtempSync(join(tmpdir(), 'upshot-sealed-'))
  const store = openSqliteStore({ file: join(original, 'upshot.db'), vaultKey: testVaultKey })
  for (const names of ['ab', 'cd', 'ef']) {
    await deleteFiles(store, [...names])
    await store.sealEffects({ now: NOW, limit: 100 })
  }
  await store.close()
  return () => rmSync(original, { recursive: true })
})

/** The ledger, and the anchor of its last seal. */
async function openSealed() {
  const folder = tempFolder()
  cpSync(join(original, 'upshot.db'), join(folder, 'upshot.db'))
  const store = openTestStore(folder)
  return { store, anchor: await takeAnchor(store) }
}

async function takeAnchor(store: Store) {
  const { head } = await store.readSealState()
  if (!head) throw new Error('nothing was sealed')
  return anchorOf(head, NOW)
}

/** Changes the database as somebody would who can write its file: without the triggers. */
function tamper({ folder }: Folder, ...statements: string[]): void {
  const db = new Database(join(folder, 'upshot.db'))
  const triggers = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).pluck().all()
  for (const name of triggers) db.exec(`DROP TRIGGER ${name}`)
  for (const sql of statements) db.exec(sql)
  db.close()
}

const faultsOf = async (store: Store, anchors: Parameters<typeof verifyLedger>[1] = {}) =>
  (await verifyLedger(store, anchors)).faults

const COPY = `INSERT INTO effect (seq, at, phase, class, operation, target)`

test.each([
  ['an edited path', [`UPDATE effect SET path = '/x' WHERE seq = 5`], [/^rows 5 to 8 are not as seal 2 /]],
  ['an edited outcome', [`UPDATE effect SET outcome = 'not_found' WHERE seq = 2`], [/^rows 1 to 4 are not as seal 1 /]],
  ['an erased approval', [`UPDATE effect SET actor = 'x' WHERE seq = 12`], [/^rows 9 to 12 are not as seal 3 /]],
  ['a removed row', ['DELETE FROM effect WHERE seq = 6'], [/^seal 2 .* covers 4 rows, and 3 are there: rows 5 to 8$/]],
  [
    'a row in the place of another',
    ['DELETE FROM effect WHERE seq = 6', `${COPY} VALUES (6, ${NOW}, 'done', 'write', 'x', 'y')`],
    [/^rows 5 to 8 are not as seal 2 /],
  ],
  [
    'two rows that changed places',
    [
      'UPDATE effect SET seq = 99 WHERE seq = 1',
      'UPDATE effect SET seq = 1 WHERE seq = 3',
      'UPDATE effect SET seq = 3 WHERE seq = 99',
    ],
    [/^rows 1 to 4 are not as seal 1 /],
  ],
  [
    'two rows of two seals that changed places',
    [
      'UPDATE effect SET seq = 99 WHERE seq = 1',
      'UPDATE effect SET seq = 1 WHERE seq = 5',
      'UPDATE effect SET seq = 5 WHERE seq = 99',
    ],
    [/^rows 1 to 4 are not as seal 1 /, /^rows 5 to 8 are not as seal 2 /],
  ],
  ['rows that were cut off at the end', ['DELETE FROM effect WHERE seq > 9'], [/^seal 3 .* covers 4 rows, and 1 are/]],
  ['rows that were cut off at the beginning', ['DELETE FROM effect WHERE seq < 5'], [/^seal 1 .* and 0 are there/]],
  [
    'a beginning that was cut off with its seals',
    ['DELETE FROM effect WHERE seq < 5', 'DELETE FROM effect_seal WHERE number = 1'],
    [/^seal 1 is gone$/],
  ],
  [
    'a middle that was cut out with its seal',
    ['DELETE FROM effect WHERE seq BETWEEN 5 AND 8', 'DELETE FROM effect_seal WHERE number = 2'],
    [/^seal 2 is gone$/],
  ],
  [
    'seals that were numbered anew after a cut',
    [
      'DELETE FROM effect WHERE seq BETWEEN 5 AND 8',
      'DELETE FROM effect_seal WHERE number = 2',
      'UPDATE effect_seal SET number = 2 WHERE number = 3',
    ],
    [/^seal 2 .* does not fit: it, or the one before, was changed$/],
  ],
  [
    'an invented pruning',
    ['DELETE FROM effect WHERE seq < 5', 'UPDATE effect_seal SET pruned_to = 4 WHERE number = 3'],
    [/^seal 3 .* does not fit/],
  ],
  ['a row below the first', [`${COPY} VALUES (0, ${NOW}, 'done', 'write', 'x', 'y')`], [/^row 0 is numbered below/]],
  [
    'rows far below the first',
    ['-1', '-9007199254740993', '-9223372036854775808'].map(
      (seq) => `${COPY} VALUES (${seq}, ${NOW}, 'done', 'write', 'x', 'y')`,
    ),
    [/^row -9\d+ is/, /^row -9007199254740992 is/, /^row -1 is/],
  ],
  ['a seal of another time', ['UPDATE effect_seal SET at = at + 1 WHERE number = 2'], [/^seal 2 .* does not fit/]],
])('the verification names %s', async (_name, statements, faults) => {
  const { store, anchor } = await openSealed()
  tamper(store, ...statements)
  const found = await faultsOf(store, { anchors: [anchor] })
  expect(found.filter((fault) => !/^the chain ends|another one than|in which step/.test(fault))).toHaveLength(
    faults.length,
  )
  for (const [index, fault] of faults.entries()) expect(found[index]).toMatch(fault)
})

test('an end that was cut off with its seals is a whole chain, which steps and the anchor show', async () => {
  const { store, anchor } = await openSealed()
  const cut = ['DELETE FROM effect WHERE seq > 8', 'DELETE FROM effect_seal WHERE number = 3']
  tamper(store, ...cut)
  const gone = [9, 11].map((seq) => expect.stringMatching(`^row ${seq} is gone, in which step \\w+ of run_\\w+ began$`))
  expect(await faultsOf(store)).toEqual(gone)
  const anchored = `the chain ends at seal 2, before the anchor of ${AT} (seal 3)`
  expect(await faultsOf(store, { anchors: [anchor] })).toEqual([anchored, ...gone])
  tamper(store, 'DELETE FROM step')
  expect(await verifyLedger(store)).toMatchObject({ passed: true, sealed: 8 })
  expect(await faultsOf(store, { anchors: [anchor] })).toEqual([anchored])
})

test('rows that steps name are compared with them, also before a seal covers them', async () => {
  const { store } = await openSealed()
  await deleteFiles(store, ['g', 'h'])
  expect(await faultsOf(store)).toEqual([])
  tamper(store, `UPDATE effect SET step = 'x' WHERE seq = 15`, 'DELETE FROM effect WHERE seq = 13')
  expect(await faultsOf(store)).toEqual([
    expect.stringMatching(/^row 13 is gone, in which/),
    expect.stringMatching(/^row 15 is gone, in which/),
  ])
})

test('a chain that was rebuilt without its key does not fit', async () => {
  const { store } = await openSealed()
  const wrong = createSecretKey(new Uint8Array(32))
  const rows = await store.listEffects({ after: 0, limit: 100 })
  const forged = rows.map((row) => ({ ...row, path: '/harmless' }))
  const statements = [`UPDATE effect SET path = '/harmless'`]
  let before: string | null = null
  for (const seal of await store.listSeals({ limit: 9 })) {
    const covered = forged.filter(({ seq }) => seq <= seal.last && seq > seal.last - seal.rows)
    const digest = digestRows(wrong, covered)
    const mac: string = macOf(wrong, { ...seal, digest }, before)
    before = mac
    statements.push(`UPDATE effect_seal SET digest = x'${digest}', mac = x'${mac}' WHERE number = ${seal.number}`)
  }
  tamper(store, ...statements)
  expect(await faultsOf(store)).toHaveLength(6)
})

test('a seal of another branch of the same ledger, put in with its rows, breaks the chain behind it', async () => {
  const { store } = await openSealed()
  const { store: other } = await openSealed()
  for (const [each, names] of [
    [store, 'gh'],
    [other, 'xy'],
  ] as const) {
    for (const name of names) {
      await deleteFiles(each, [name])
      await each.sealEffects({ now: NOW, limit: 100 })
    }
  }
  const take = (table: string, where: string) =>
    `DELETE FROM ${table} WHERE ${where}; INSERT INTO ${table} SELECT * FROM other.${table} WHERE ${where}`
  const attach = `ATTACH '${join(other.folder, 'upshot.db')}' AS other`
  tamper(store, attach, take('effect', 'seq IN (13, 14)'), take('effect_seal', 'number = 4'))
  expect(await faultsOf(store)).toEqual([
    expect.stringMatching(/^seal 5 .* does not fit/),
    // Their event is not in this database.
    expect.stringMatching(/^rows 13 to 14 are not as seal 4 /),
    expect.stringMatching(/^row 13 is gone, in which step g/),
  ])
})

test('a key of another project, or an edited one, opens no chain', async () => {
  const { store } = await openSealed()
  tamper(store, `UPDATE effect_key SET sealed = zeroblob(72)`)
  await expect(verifyLedger(store)).rejects.toMatchObject({ code: 'invalid_config' })
  tamper(store, 'DELETE FROM effect_key')
  expect((await faultsOf(store))[0]).toMatch(/^seal 1 .* names the key 1, which is gone$/)
})

test('an older copy in the place of the database is named until a person tells of the restoration', async () => {
  const { store: restored } = await openSealed()
  const { store } = await openSealed()
  await deleteFiles(store, ['g'])
  await store.sealEffects({ now: NOW, limit: 100 })
  const anchors = [await takeAnchor(store)]
  expect(await faultsOf(restored, { anchors })).toEqual([
    `the chain ends at seal 3, before the anchor of ${AT} (seal 4)`,
  ])
  await restored.noteRestored({ actor: 'cli:ada', reason: 'a broken disk', now: NOW })
  expect(await faultsOf(restored, { anchors })).toEqual([])
  // The next seals take the numbers of those that were lost.
  await deleteFiles(restored, ['h'])
  await restored.sealEffects({ now: NOW, limit: 100 })
  anchors.push(await takeAnchor(restored))
  expect(await verifyLedger(restored, { anchors })).toMatchObject({ passed: true, anchored: { seal: 5 } })
})

test.each([
  ['a row of the ledger is never changed', `UPDATE effect SET path = '/x' WHERE seq = 1`],
  ['a row of the ledger goes by retention only', 'DELETE FROM effect WHERE seq = 1'],
  ['a seal is never changed', 'UPDATE effect_seal SET at = 1'],
  ['a seal is never removed', 'DELETE FROM effect_seal'],
])('SQLite itself sees to it that %s', async (_name, sql) => {
  const { store } = await openSealed()
  const db = new Database(join(store.folder, 'upshot.db'))
  expect(() => db.exec(sql)).toThrow(/never changed|retention only|never removed/)
  db.close()
})
