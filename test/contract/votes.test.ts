import { hash } from 'node:crypto'
import { expect } from 'vitest'
import { type Decision, describeVote } from '../../src/core/safety/approval.ts'
import type { EffectRecord } from '../../src/core/safety/effect.ts'
import { type LedgerReads, type LedgerReport, verifyLedger } from '../../src/core/safety/ledger/verify-ledger.ts'
import type { VoteRecord } from '../../src/core/safety/votes/vote-record.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW } from '../support/fixtures.ts'
import { opensslPair, opensslSignature } from '../support/sign.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete, NONE } from './support/begin-delete.ts'
import { claimLease } from './support/waiting-runs.ts'
import { wordOf } from './support/word-of.ts'

const PAIRS = { anna: opensslPair(), ben: opensslPair() }

/** A run that asks for two deletes, which are held. */
async function hold(store: Store, needs = 2): Promise<string> {
  const lease = await claimLease(store)
  for (const key of ['a', 'b']) {
    const step = checkpoint(key, { effect: 'delete', target: `storage_a:${key}` })
    const asked = { path: `/${key}`, bytes: 100, modifiedAt: null }
    await beginDelete(store, lease, step, { limits: NONE, asked, needs })
  }
  const [approval] = await store.listApprovals({ limit: 1, now: NOW })
  return approval?.id ?? ''
}

function signed(word: Decision, { privateKey } = PAIRS[word.actor as keyof typeof PAIRS]): Decision {
  return { ...word, signature: opensslSignature(privateKey, describeVote(word)) }
}

/** Both people may decide; Anna changes her mind, and then Ben agrees with her. */
async function decide(store: Store): Promise<string> {
  const id = await hold(store)
  for (const [name, { publicKey }] of Object.entries(PAIRS)) {
    await store.addApprover({ name, publicKey, roles: [], addedAt: NOW, removedAt: null })
  }
  const only = [{ from: 1, to: 1 }]
  for (const [at, word] of [
    await wordOf(store, id, { only }),
    await wordOf(store, id),
    await wordOf(store, id, { actor: 'ben', reason: null }),
  ].entries()) {
    await store.decideApproval(signed(word), NOW + at)
  }
  return id
}

/** The reads of a store of whose rows and votes somebody changed some. */
function tampered(
  store: Store,
  { row = (given) => given, vote = (given) => given }: { row?: Change<EffectRecord>; vote?: Change<VoteRecord> },
): LedgerReads {
  const change = <T>(given: T[], by: Change<T>) => given.map(by).filter((each) => each !== null)
  return {
    listSeals: store.listSeals,
    listSealKeys: store.listSealKeys,
    listLostBegins: store.listLostBegins,
    listEffects: async (query) => change(await store.listEffects(query), row),
    listVotes: async (query) => change(await store.listVotes(query), vote),
    findApproval: store.findApproval,
    listApprovalItems: store.listApprovalItems,
    listApprovers: store.listApprovers,
  }
}
type Change<T> = (given: T) => T | null

const votesOf = ({ words, signedWords, faults }: LedgerReport) => ({ words, signedWords, faults })

describeStores((test) => {
  test('a signed word that its person has replaced counts no more, whoever sends it again', async ({ store }) => {
    const id = await hold(store)
    for (const [name, { publicKey }] of Object.entries(PAIRS))
      await store.addApprover({ name, publicKey, roles: [], addedAt: NOW, removedAt: null })
    const whole = signed(await wordOf(store, id))
    const part = signed(await wordOf(store, id, { only: [{ from: 1, to: 1 }] }))
    for (const word of [whole, part, part]) {
      expect(await store.decideApproval(word, NOW)).toMatchObject({ status: 'open', missing: 1 })
    }
    const again = store.decideApproval(whole, NOW + 1)
    await expect(again).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('a later one') })
    const ben = signed(await wordOf(store, id, { actor: 'ben' }))
    expect(await store.decideApproval(ben, NOW + 1)).toMatchObject({ status: 'open', missing: 1 })
    // The person may go back to it, in a word of its own.
    const back = signed(await wordOf(store, id, { reason: 'all of it, after all' }))
    expect(await store.decideApproval(back, NOW + 2)).toMatchObject({ status: 'approved', granted: 2 })
  })

  test('each word is in the ledger with its signature, which is checked by the key of that time', async ({ store }) => {
    const id = await decide(store)
    await store.removeApprover('anna', NOW)
    const { publicKey } = opensslPair()
    await store.addApprover({ name: 'anna', publicKey, roles: [], addedAt: NOW, removedAt: null })
    const rows = await store.listEffects({ phases: ['decided'], after: 0, limit: 9 })
    expect(rows).toMatchObject([
      { actor: 'anna', operation: 'approve', outcome: 'approved', error: 'checked', approval: id },
      { actor: 'anna', outcome: 'approved', error: 'checked', proof: expect.stringMatching(/^[\w+/]{86}==$/) },
      { actor: 'ben', outcome: 'approved', error: null },
    ])
    expect(JSON.parse(rows[0]?.asked ?? '')).toEqual({
      hash: (await store.findApproval(id, NOW))?.hash,
      only: [{ from: 1, to: 1 }],
      answer: null,
      publicKey: PAIRS.anna.publicKey,
    })
    const report = await verifyLedger(store)
    expect(votesOf(report)).toEqual({ words: 3, signedWords: 3, faults: [] })
    const key = (pem: string) => {
      const der = Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64')
      return `SHA256:${hash('sha256', der, 'base64').replace('=', '')}`
    }
    expect(report.signers).toEqual([
      { name: 'anna', key: key(PAIRS.anna.publicKey), words: 2 },
      { name: 'ben', key: key(PAIRS.ben.publicKey), words: 1 },
    ])
  })

  test('one key is one person, whatever names it is given', async ({ store }) => {
    const id = await hold(store)
    const { publicKey } = PAIRS.anna
    const add = (name: string) => store.addApprover({ name, publicKey, roles: [], addedAt: NOW, removedAt: null })
    await add('anna')
    await expect(add('another')).rejects.toMatchObject({
      code: 'conflict',
      message: 'This is the key of the approver "anna".',
    })
    const word = await wordOf(store, id)
    expect(await store.decideApproval(signed(word), NOW)).toMatchObject({ status: 'open', missing: 1 })
    await store.removeApprover('anna', NOW + 1)
    await add('another')
    const again = signed({ ...word, actor: 'another' }, PAIRS.anna)
    expect(await store.decideApproval(again, NOW + 2)).toMatchObject({ status: 'open', missing: 1 })
  })

  test('a changed word in the ledger does not fit its signature, and is named by row and person', async ({ store }) => {
    const id = await decide(store)
    const [row] = await store.listEffects({ phases: ['decided'], after: 0, limit: 1 })
    if (!row) throw new Error('a word was given')
    const edited = (part: object) => JSON.stringify({ ...JSON.parse(row.asked ?? ''), ...part })
    const ben = PAIRS.ben.publicKey
    for (const part of [
      { operation: 'deny' },
      { error: 'never looked' },
      { error: null },
      { asked: edited({ hash: 'ab'.repeat(32) }) },
      { asked: edited({ only: null }) },
      { asked: edited({ answer: '{}' }) },
      { asked: edited({ publicKey: ben }) },
      { asked: edited({ publicKey: 'no key' }) },
      { asked: edited({ publicKey: null }) },
      { proof: null },
      { proof: 'AAAA' },
    ]) {
      const reads = tampered(store, { row: (each) => (each.seq === row.seq ? { ...each, ...part } : each) })
      const faults = (await verifyLedger(reads)).faults.filter((fault) => !/never theirs$|is not signed$/.test(fault))
      expect(faults, JSON.stringify(part)).toEqual([
        `row ${row.seq}: the signature does not fit the decision of "anna" on ${id}`,
      ])
    }
    const another = tampered(store, { row: (each) => (each.seq === row.seq ? { ...each, actor: 'ben' } : each) })
    expect((await verifyLedger(another)).faults).toEqual([
      `row ${row.seq}: the signature does not fit the decision of "ben" on ${id}`,
      `row ${row.seq}: the decision of "ben" is signed with a key that was never theirs`,
    ])
    const unreadable = tampered(store, { row: (each) => (each.seq === row.seq ? { ...each, asked: '{' } : each) })
    expect((await verifyLedger(unreadable)).faults).toEqual([
      `row ${row.seq}: the decision of "anna" on ${id} cannot be read`,
    ])
  })

  test("a vote that is not the person's newest word in the ledger is named", async ({ store }) => {
    const id = await decide(store)
    const [first, second] = await store.listEffects({ phases: ['decided'], after: 0, limit: 9 })
    if (!first || !second) throw new Error('two words were given')
    const annas = (part: object) => ({
      vote: (each: VoteRecord) => (each.actor === 'anna' ? { ...each, ...part } : each),
    })
    const changed = [`row ${second.seq}: the vote of "anna" on ${id} was changed`]
    for (const part of [
      { verdict: 'denied' },
      { reason: 'never looked' },
      { hash: 'ab'.repeat(32) },
      { only: [{ from: 1, to: 1 }] },
      { answer: '{}' },
      { at: NOW + 9 },
      { signature: null },
      { signature: new Uint8Array(64) },
    ]) {
      expect((await verifyLedger(tampered(store, annas(part)))).faults, JSON.stringify(part)).toEqual(changed)
    }
    const gone = [
      `row ${first.seq}: the vote of "anna" on ${id} is gone`,
      `row ${second.seq}: the vote of "anna" on ${id} is gone`,
    ]
    const removed = tampered(store, { vote: (each) => (each.actor === 'anna' ? null : each) })
    expect((await verifyLedger(removed)).faults).toEqual(gone)
    // Her first word, put back in the place of the second one.
    expect((await verifyLedger(tampered(store, annas({ effectSeq: first.seq })))).faults).toEqual([
      `row ${first.seq}: the vote of "anna" on ${id} was changed`,
      `row ${second.seq}: the vote of "anna" on ${id} is gone`,
    ])
    const forged = tampered(store, { vote: (each) => ({ ...each, actor: each.actor === 'ben' ? 'cleo' : each.actor }) })
    expect((await verifyLedger(forged)).faults).toEqual([
      `row ${second.seq + 1}: the vote of "ben" on ${id} is gone`,
      `row ${second.seq + 1}: the vote of "cleo" on ${id} is not in the ledger`,
    ])
  })

  test('votes stay good when retention takes the rows of their words', async ({ store }) => {
    await decide(store)
    await store.sealEffects({ now: NOW, limit: 100 })
    await store.stopEffects({ kind: 'all', name: '', since: NOW, actor: 'ada', reason: 'no' })
    await store.sealEffects({ now: NOW + 2, limit: 100 })
    for (let after: string | null = null; ; ) {
      const slice = await store.prune({ kind: 'effects', before: NOW + 1, limit: 2, after })
      expect(votesOf(await verifyLedger(store)).faults).toEqual([])
      after = slice.next
      if (after === null) break
    }
    expect(await verifyLedger(store)).toMatchObject({ passed: true, words: 0 })
  })

  test('without approvers a signature is not kept, since nothing has checked it', async ({ store }) => {
    const id = await hold(store, 1)
    await store.decideApproval({ ...(await wordOf(store, id)), signature: new Uint8Array(64) }, NOW)
    expect(await store.findApproval(id, NOW)).toMatchObject({ votes: [{ actor: 'anna', isSigned: false }] })
    expect(votesOf(await verifyLedger(store))).toEqual({ words: 1, signedWords: 0, faults: [] })
  })

  test('a signature covers the whole hash: one for its first digits does not count', async ({ store }) => {
    const id = await hold(store, 1)
    const { anna } = PAIRS
    await store.addApprover({ name: 'anna', publicKey: anna.publicKey, roles: [], addedAt: NOW, removedAt: null })
    const whole = await wordOf(store, id)
    const short = { ...whole, hash: whole.hash.slice(0, 8) }
    await expect(store.decideApproval(signed(short), NOW)).rejects.toThrow('not that of "anna"')
    const { signature } = signed(whole)
    expect(await store.decideApproval({ ...short, signature }, NOW)).toMatchObject({ status: 'approved' })
    expect((await verifyLedger(store)).passed).toBe(true)
  })
})
