import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { deleteFiles } from '../../../contract/support/delete-files.ts'
import { opensslPair } from '../../../support/sign.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { runHere } from '../../support/run-here.ts'
import { openTestProject } from '../../support/test-project.ts'
import { holdDeletes } from './support/hold-deletes.ts'

/** A project whose command line anchors into a file beside nothing of its data. */
async function openLedger() {
  const { dataDir, store } = await openTestProject()
  const anchorFile = join(tempFolder(), 'anchors.ndjson')
  const env = { UPSHOT_ANCHOR_FILE: anchorFile }
  const cli = async (...args: string[]) => {
    const { exit, json } = await runHere(dataDir, [...args, '--json', '--yes'], { env })
    return { exit, data: (json as { data: Record<string, unknown> }).data, json }
  }
  const sound = () => cli('effects', 'verify')
  return { dataDir, store, anchorFile, cli, sound, database: join(dataDir, 'upshot.db') }
}

function change(file: string, sql: string): void {
  const db = new Database(file)
  db.exec(`DROP TRIGGER IF EXISTS effect_is_final; ${sql}`)
  db.close()
}

test('"effects anchor" seals the ledger, prints the end of its chain and appends it to the anchor file', async () => {
  const { store, cli, anchorFile, sound } = await openLedger()
  expect(await cli('effects', 'anchor')).toMatchObject({ exit: 5, json: { error: { code: 'not_found' } } })
  await deleteFiles(store, ['a'])
  const { data } = await cli('effects', 'anchor')
  expect(data).toMatchObject({ seal: 1, last: 2 })
  expect(JSON.parse(readFileSync(anchorFile, 'utf8'))).toEqual(data)
  expect(statSync(anchorFile).mode & 0o777).toBe(0o600)
  expect(await sound()).toMatchObject({ exit: 0, data: { passed: true, effects: 2, sealed: 2, anchored: data } })
})

test('"effects verify" leaves with 7 and names the rows where one was edited, and so does "db verify"', async () => {
  const { store, cli, sound, database } = await openLedger()
  await deleteFiles(store, ['a', 'b'])
  await cli('effects', 'anchor')
  change(database, `UPDATE effect SET path = '/other' WHERE seq = 3`)
  const fault = expect.stringMatching(/^rows 1 to 4 are not as seal 1 /)
  expect(await sound()).toMatchObject({ exit: 7, data: { passed: false, faults: [fault] } })
  const { exit, data } = await cli('db', 'verify')
  expect(exit).toBe(7)
  expect(data.checks).toContainEqual({ name: 'the effect ledger is as it was sealed', passed: false, found: fault })
})

test('a restored backup breaks the chain until a person says so, and the drill leaves it whole', async () => {
  const { store, cli, sound, anchorFile, database } = await openLedger()
  await deleteFiles(store, ['a'])
  const backup = join(tempFolder(), 'backup.db')
  expect((await cli('db', 'backup', backup)).data).toMatchObject({ made: true, anchor: { seal: 1, last: 2 } })
  expect(await cli('effects', 'verify', backup)).toMatchObject({ exit: 0, data: { anchored: { seal: 1 } } })
  await deleteFiles(store, ['b'])
  await cli('effects', 'anchor')
  await store.close()
  for (const ending of ['-wal', '-shm']) rmSync(`${database}${ending}`, { force: true })
  copyFileSync(backup, database)
  expect(await sound()).toMatchObject({
    exit: 7,
    data: { faults: [expect.stringMatching(/^the chain ends at seal 1, before the anchor of .* \(seal 2\)$/)] },
  })
  const lost = await cli('doctor')
  expect(JSON.stringify(lost.data)).toContain('it ends at seal 1, before its newest anchor (seal 2)')
  expect(await cli('effects', 'restored')).toMatchObject({ exit: 2, json: { error: { code: 'invalid_request' } } })
  await cli('effects', 'restored', '--reason', 'the disk broke')
  const { data } = await sound()
  expect(data).toMatchObject({ passed: true, restored: [{ note: expect.stringMatching(/^cli:.*: the disk broke$/) }] })
  expect((await cli('audit', 'list', '--limit', '1')).data).toMatchObject([
    { action: 'effects.restored', reason: 'the disk broke' },
  ])
  await cli('effects', 'anchor')
  expect(readFileSync(anchorFile, 'utf8').split('\n').filter(Boolean)).toHaveLength(3)
  expect(await sound()).toMatchObject({ exit: 0, data: { anchors: 3, sinceAnchor: 0 } })
})

test('a lost key is told as such, and "effects verify" makes no new one', async () => {
  const { store, cli, dataDir, sound } = await openLedger()
  await deleteFiles(store, ['a'])
  await cli('effects', 'anchor')
  const backup = join(tempFolder(), 'backup.db')
  await cli('db', 'backup', backup)
  await store.close()
  rmSync(join(dataDir, 'secret.key'))
  expect(await sound()).toMatchObject({ json: { error: { code: 'invalid_config' } } })
  expect(await cli('db', 'verify')).toMatchObject({ exit: 7 })
  expect(await cli('db', 'verify', backup)).toMatchObject({ exit: 0 })
  expect(() => statSync(join(dataDir, 'secret.key'))).toThrow()
})

test('"effects verify" checks the signature of a vote, and names a forged or changed one', async () => {
  const { store, cli, sound, database, dataDir } = await openLedger()
  const folder = tempFolder()
  const pair = opensslPair()
  writeFileSync(join(folder, 'anna.key'), pair.privateKey)
  writeFileSync(join(folder, 'anna.pub'), pair.publicKey)
  await cli('approvers', 'add', 'anna', '--key', join(folder, 'anna.pub'))
  const [approver] = (await cli('approvers', 'list')).data as unknown as { fingerprint: string }[]
  const { id } = await holdDeletes(store, ['a', 'b', 'c'])
  const [item] = await store.listApprovalItems({ approval: id, limit: 1 })
  const key = ['--as', 'anna', '--key-file', join(folder, 'anna.key'), '--reason', 'looked at it']
  // Digits of an item within the list: the signature covers its whole hash.
  const { exit } = await cli('approvals', 'approve', id, '--hash', item?.hash.slice(0, 8) ?? '', ...key)
  expect(exit).toBe(0)
  const signers = [{ name: 'anna', key: approver?.fingerprint, words: 1 }]
  expect(await sound()).toMatchObject({ exit: 0, data: { passed: true, words: 1, signedWords: 1, signers } })
  const { stdout } = await runHere(dataDir, ['effects', 'verify'])
  expect(stdout).toMatch(/\b1 decision of people: 1 with a good signature\n +anna signed 1 with /)
  const faultsAfter = async (sql: string) => {
    change(database, sql)
    return (await sound()).data.faults
  }
  const [row] = await store.listEffects({ phases: ['decided'], limit: 1 })
  const of = `of "anna" on ${id}`
  expect(await faultsAfter(`UPDATE approval_vote SET reason = 'never looked'`)).toEqual([
    `row ${row?.seq}: the vote ${of} was changed`,
  ])
  expect(await faultsAfter(`UPDATE effect SET error = 'never looked' WHERE phase = 'decided'`)).toEqual([
    `row ${row?.seq}: the signature does not fit the decision ${of}`,
  ])
  const forged = `INSERT INTO approval_vote SELECT approval, 'ben', verdict, reason, hash, items, answer, at, signature,
    effect_seq FROM approval_vote`
  expect((await faultsAfter(forged)) as string[]).toContain(
    `row ${row?.seq}: the vote of "ben" on ${id} is not in the ledger`,
  )
  expect((await cli('effects', 'verify')).exit).toBe(7)
})

test('a list that was changed in the database is neither shown nor approved, and a signed no ends it', async () => {
  const { store, cli, database } = await openLedger()
  const { id } = await holdDeletes(store, ['a'])
  const { hash = '' } = (await store.findApproval(id, Date.now())) ?? {}
  const { publicKey, privateKey } = opensslPair()
  await store.addApprover({ name: 'anna', publicKey, roles: [], addedAt: 1, removedAt: null })
  const key = join(tempFolder(), 'anna.key')
  writeFileSync(key, privateKey)
  const as = ['--as', 'anna', '--key-file', key]
  expect(await cli('approvals', 'show', id)).toMatchObject({ exit: 0 })
  change(database, `UPDATE approval_item SET asked = '{"path":"/b","bytes":1,"modifiedAt":null}'`)
  const refused = { json: { error: { code: 'conflict' } } }
  expect(await cli('approvals', 'show', id)).toMatchObject(refused)
  const approving = await cli('approvals', 'approve', id, '--hash', hash, '--reason', 'ok', ...as)
  expect(approving).toMatchObject({ json: { error: { code: 'list_changed' } } })
  expect(await cli('approvals', 'deny', id, '--reason', 'somebody changed it', ...as)).toMatchObject({ exit: 0 })
  expect(await store.findApproval(id, Date.now())).toMatchObject({ status: 'denied', votes: [{ isSigned: true }] })
})
