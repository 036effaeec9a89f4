import { expect } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import { type Decision, describeVote } from '../../src/core/safety/approval.ts'
import { verifyLedger } from '../../src/core/safety/ledger/verify-ledger.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW } from '../support/fixtures.ts'
import { opensslPair, opensslSignature } from '../support/sign.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete, NONE } from './support/begin-delete.ts'
import { claimLease } from './support/waiting-runs.ts'
import { wordOf } from './support/word-of.ts'

const PAIRS = { anna: opensslPair(), ben: opensslPair(), eve: opensslPair() }
type Name = keyof typeof PAIRS

const stateOf = (name: string) => ({ path: `/${name}`, bytes: 100, modifiedAt: null })

/** Asks for a delete, which is over its limit. */
function ask(store: Store, lease: Lease, name: string, needs = 2, asked = stateOf(name)) {
  return beginDelete(store, lease, checkpoint(name, { target: `storage_a:${name}` }), { limits: NONE, asked, needs })
}

interface Held {
  lease: Lease
  id: string
}

/** A run whose deletes of `a` and `b` are held. */
async function hold(store: Store, event = 'evt_1', needs = 2): Promise<Held> {
  const lease = await claimLease(store, event)
  for (const name of ['a', 'b']) await ask(store, lease, name, needs)
  const [approval] = await store.listApprovals({ status: 'open', limit: 1, now: NOW })
  return { lease, id: approval?.id ?? '' }
}

async function register(store: Store, ...names: Name[]): Promise<void> {
  for (const name of names) {
    await store.addApprover({ name, publicKey: PAIRS[name].publicKey, roles: [], addedAt: NOW, removedAt: null })
  }
}

async function say(store: Store, id: string, actor: Name, part: Partial<Decision> = {}, isSigned = true) {
  const word = await wordOf(store, id, { actor, reason: null, ...part })
  const signature = isSigned ? opensslSignature(PAIRS[actor].privateKey, describeVote(word)) : null
  return store.decideApproval({ ...word, signature }, NOW)
}

const GRANT = [
  `UPDATE approval SET status = 'approved', decided_at = ${NOW} WHERE status = 'open'`,
  `UPDATE approval_item SET state = 'approved' WHERE state = 'open'`,
]
/** A word that its person never gave, made of another's. */
const voteOf = (name: string, from: string) =>
  `INSERT INTO approval_vote (approval, actor, verdict, reason, hash, answer, at, signature, effect_seq)
   SELECT approval, '${name}', verdict, reason, hash, answer, at, ${from === 'none' ? 'NULL' : 'signature'}, effect_seq
   FROM approval_vote WHERE actor = 'anna'`

const faultsOf = async (store: Store) => (await verifyLedger(store)).faults

/** The row that an effect would have that began by this approval. */
const beginning = ({ lease, id }: Held, name: string) =>
  `INSERT INTO effect (seq, at, phase, class, operation, account, target, workflow, run_id, step, approval, asked,
     expect)
   SELECT max(seq) + 1, ${NOW}, 'begun', 'delete', 'files.delete', 'default', 'storage_a:${name}', 'follow-up',
     '${lease.runId}', '${name}', '${id}', '${JSON.stringify(stateOf(name))}', '${JSON.stringify(stateOf(name))}'
   FROM (SELECT seq FROM effect UNION ALL SELECT 0) AS known`

describeStores((test, open) => {
  /** The deletes of a run are held, two people may decide, and Anna has. */
  async function openWithWord() {
    const opened = await open()
    const held = await hold(opened.store)
    await register(opened.store, 'anna', 'ben')
    await say(opened.store, held.id, 'anna')
    return { ...opened, held }
  }

  test('two signed words let what they cover begin, and the verification finds both', async () => {
    const { store, held } = await openWithWord()
    expect(await say(store, held.id, 'ben')).toMatchObject({ status: 'approved', granted: 2 })
    for (const name of ['a', 'b']) {
      expect(await ask(store, held.lease, name)).toMatchObject({ kind: 'granted', by: ['anna', 'ben'] })
    }
    expect(await verifyLedger(store)).toMatchObject({ faults: [], granted: 2, grantedUnsigned: 0, signedWords: 2 })
    expect(await store.listEffects({ phases: ['begun'], limit: 1 })).toMatchObject([{ actor: 'anna, ben' }])
  })

  const forgeries: [string, string[]][] = [
    ['its state', GRANT],
    ['its state and the people it needs', [`UPDATE approval SET needs = 1`, ...GRANT]],
    ['a word without a signature', [voteOf('ben', 'none'), ...GRANT]],
    ["a word with another's signature", [voteOf('ben', 'anna'), ...GRANT]],
    [
      'a word of somebody whom only the row knows',
      [
        voteOf('eve', 'anna'),
        `INSERT INTO approver (number, name, sealed)
      SELECT 9, 'eve', sealed FROM approver WHERE name = 'anna'`,
        ...GRANT,
      ],
    ],
    [
      "the place of a person's key",
      [
        voteOf('ben', 'anna'),
        `UPDATE approver SET sealed = (SELECT sealed FROM approver
      AS other WHERE other.name = 'anna') WHERE name = 'ben'`,
        ...GRANT,
      ],
    ],
  ]
  test.each(forgeries)('an approval with forged rows lets nothing begin: %s', async (_, statements) => {
    const { store, tamper, held } = await openWithWord()
    await tamper(...statements)
    const permit = await ask(store, held.lease, 'a')
    expect(permit).toMatchObject({
      kind: 'denied',
      reason: expect.stringContaining(`approval ${held.id} is not valid`),
    })
    expect(await store.listEffects({ phases: ['begun'], limit: 1 })).toEqual([])
    await tamper(beginning(held, 'a'))
    expect(await faultsOf(store)).toContainEqual(expect.stringMatching(/^row \d+ began by apr_\w+, and it/))
  })

  test.each([
    ['the state that a delete requires', `UPDATE effect SET expect = 'x' WHERE phase = 'begun'`, /people saw another/],
    ['the key of a person', `UPDATE effect SET asked = 'x' WHERE operation = 'approver.add'`, /the approver "anna" is/],
    [
      'what somebody erased',
      `UPDATE effect SET operation = 'erase', asked = 'x' WHERE seq = 1;
       UPDATE effect SET erased = '{"by":1,"was":""}' WHERE phase = 'begun'`,
      /lost text, and no row tells/,
    ],
  ])('a row of the ledger whose text is no JSON is named: %s', async (_, statements, fault) => {
    const { store, tamper, held } = await openWithWord()
    await say(store, held.id, 'ben')
    await ask(store, held.lease, 'a')
    await store.sealEffects({ now: NOW, limit: 100 })
    await tamper(...statements.split(';'))
    expect(await faultsOf(store)).toContainEqual(expect.stringMatching(fault))
  })

  test('the words of another approval, run or list cover nothing here', async () => {
    const { store, tamper, held } = await openWithWord()
    await say(store, held.id, 'ben')
    const other = await hold(store, 'evt_2')
    await tamper(`UPDATE approval_vote SET approval = '${other.id}'`, ...GRANT)
    expect(await ask(store, other.lease, 'a')).toMatchObject({ kind: 'denied' })
    await tamper(`UPDATE approval_vote SET approval = '${held.id}'`)
    await tamper(`UPDATE approval_item SET approval = 'x' WHERE approval = '${other.id}'`)
    await tamper(`UPDATE approval_item SET run_id = '${other.lease.runId}' WHERE approval = '${held.id}'`)
    expect(await ask(store, other.lease, 'a')).toMatchObject({ kind: 'denied' })
  })

  const changes: [string, string, string?][] = [
    ['another state', `UPDATE approval_item SET asked = '${JSON.stringify(stateOf('evil'))}' WHERE step = 'a'`],
    ['another step', `UPDATE approval_item SET step = 'c' WHERE step = 'a'`, 'c'],
    ['another number of people', 'UPDATE approval SET needs = 1'],
    ['a later end', 'UPDATE approval SET expires_at = expires_at + 1'],
    ['another account', `UPDATE approval SET account = 'other'`],
  ]
  test.each(changes)(
    'a list that was changed after its words lets nothing begin: %s',
    async (_, statement, name = 'a') => {
      const { store, tamper, held } = await openWithWord()
      await say(store, held.id, 'ben')
      await tamper(statement)
      const asked = stateOf(/SET asked/.test(statement) ? 'evil' : 'a')
      const permit = await ask(store, held.lease, name, 2, asked)
      expect(permit).toMatchObject({
        kind: 'denied',
        reason: expect.stringContaining('changed after they were hashed'),
      })
      await tamper(beginning(held, name))
      expect(await faultsOf(store)).toContainEqual(expect.stringMatching(/^row \d+ began by apr_\w+, and its terms/))
    },
  )

  test('a list that was changed before a word cannot be approved', async () => {
    const { reopen, tamper, held } = await openWithWord()
    await tamper(`UPDATE approval_item SET asked = '${JSON.stringify(stateOf('evil'))}' WHERE step = 'a'`)
    // A person's word comes from another process than Anna's did.
    const store = await reopen()
    await expect(say(store, held.id, 'ben')).rejects.toMatchObject({ code: 'conflict' })
    expect(await say(store, held.id, 'ben', { verdict: 'denied' })).toMatchObject({ status: 'denied', granted: 0 })
  })

  test('a forged word does not count beside a real one', async () => {
    const { store, tamper, held } = await openWithWord()
    await tamper(voteOf('eve', 'anna'), "DELETE FROM approval_vote WHERE actor = 'anna'")
    expect(await say(store, held.id, 'ben')).toMatchObject({ status: 'open', missing: 1 })
  })

  test('a part of a list is not the rest of it, whatever the rows say', async () => {
    const { store, tamper, held } = await openWithWord()
    const only = [{ from: 1, to: 1 }]
    for (const name of ['anna', 'ben'] as const) await say(store, held.id, name, { only })
    await tamper(
      `DELETE FROM approval_item WHERE approval <> '${held.id}'`,
      `UPDATE approval_item SET state = 'approved'`,
    )
    expect(await ask(store, held.lease, 'a')).toMatchObject({ kind: 'granted' })
    expect(await ask(store, held.lease, 'b')).toMatchObject({ kind: 'denied' })
  })

  test('an approval needs as many people as the project says when its effect begins', async ({ store }) => {
    const held = await hold(store, 'evt_1', 1)
    await register(store, 'anna', 'ben')
    expect(await say(store, held.id, 'anna')).toMatchObject({ status: 'approved' })
    expect(await ask(store, held.lease, 'a', 2)).toMatchObject({ kind: 'denied' })
    expect(await ask(store, held.lease, 'b', 1)).toMatchObject({ kind: 'granted', by: ['anna'] })
  })

  test('a word counts by the key of its time, also once the person is removed', async () => {
    const { store, held } = await openWithWord()
    await say(store, held.id, 'ben')
    await store.removeApprover('ben', NOW + 1)
    await store.addApprover({
      name: 'ben',
      publicKey: PAIRS.eve.publicKey,
      roles: [],
      addedAt: NOW + 2,
      removedAt: null,
    })
    expect(await ask(store, held.lease, 'a')).toMatchObject({ kind: 'granted', by: ['anna', 'ben'] })
    expect(await faultsOf(store)).toEqual([])
  })

  test('words that need no signature still have to be there', async ({ store, tamper }) => {
    const held = await hold(store)
    await tamper(...GRANT)
    expect(await ask(store, held.lease, 'a')).toMatchObject({ kind: 'denied' })
    await tamper(`UPDATE approval SET status = 'open'`, `UPDATE approval_item SET state = 'open'`)
    for (const name of ['anna', 'ben'] as const) await say(store, held.id, name, {}, false)
    expect(await ask(store, held.lease, 'a')).toMatchObject({ kind: 'granted', by: ['anna', 'ben'] })
    expect(await verifyLedger(store)).toMatchObject({ faults: [], granted: 1, grantedUnsigned: 1 })
    await register(store, 'anna')
    expect(await ask(store, held.lease, 'b')).toMatchObject({ kind: 'denied' })
  })

  const losses: [string, string, RegExp][] = [
    ['a person is taken out', `DELETE FROM approver WHERE name = 'ben'`, /the approver "ben" is gone$/],
    ['all people are taken out', 'DELETE FROM approver', /the approver "anna" is gone$/],
    [
      'a person is put in',
      `INSERT INTO approver (number, name, sealed) SELECT 9, 'eve', sealed FROM approver
      WHERE name = 'anna'`,
      /^the approver "eve" was not added by our command$/,
    ],
    [
      'a word is taken out',
      `DELETE FROM approval_vote WHERE actor = 'ben'`,
      /began by apr_\w+, and it needs the decisions of 2/,
    ],
    ['the approval is taken out', 'DELETE FROM approval', /and that does not list it$/],
    [
      'the effect began twice',
      `INSERT INTO effect (seq, at, phase, class, operation, account, target, workflow, run_id,
      step, approval, asked, expect) SELECT seq + 9, at, phase, class, operation, account, target, workflow, run_id,
      step, approval, asked, expect FROM effect WHERE phase = 'begun'`,
      /and it began by that before$/,
    ],
    [
      'the effect had another file',
      `UPDATE effect SET target = 'storage_a:x' WHERE phase = 'begun'`,
      /saw another file$/,
    ],
    ['the effect had another state', `UPDATE effect SET expect = NULL WHERE phase = 'begun'`, /saw another file$/],
    ['the words came later', `UPDATE effect SET seq = -1 WHERE phase = 'begun'`, /and the words came later$/],
  ]
  test.each(losses)('the verification tells where %s', async (_, statement, fault) => {
    const { store, tamper, held } = await openWithWord()
    await say(store, held.id, 'ben')
    await ask(store, held.lease, 'a')
    expect(await faultsOf(store)).toEqual([])
    await tamper(statement)
    expect(await faultsOf(store)).toContainEqual(expect.stringMatching(fault))
  })

  test('the verification tells of an effect that began under a stop, and of a person who is back', async () => {
    const { store, tamper, held } = await openWithWord()
    await say(store, held.id, 'ben')
    await tamper('CREATE TABLE kept AS SELECT * FROM approver')
    await store.removeApprover('ben', NOW)
    await tamper('DELETE FROM approver', 'INSERT INTO approver SELECT * FROM kept', 'DROP TABLE kept')
    await store.stopEffects({ kind: 'workflow', name: 'follow-up', since: NOW, actor: 'ada', reason: 'wrong files' })
    await tamper('DELETE FROM effect_stop')
    await ask(store, held.lease, 'a')
    const faults = await faultsOf(store)
    expect(faults).toContainEqual(expect.stringMatching(/the approver "ben" is back$/))
    expect(faults).toContainEqual(
      expect.stringMatching(/^row \d+ began while effects of the workflow follow-up were stopped \(row \d+\)$/),
    )
  })
})
