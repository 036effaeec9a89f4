import { generateKeyPairSync, sign } from 'node:crypto'
import { expect } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Checkpoint } from '../../src/core/runs/step.ts'
import { type Decision, describeVote } from '../../src/core/safety/approval.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete, NONE } from './support/begin-delete.ts'
import { claimLease } from './support/waiting-runs.ts'
import { wordOf } from './support/word-of.ts'

const DAY = 86_400_000
const asked = (path: string, bytes = 100) => ({ path, bytes, modifiedAt: null })
const step = (key: string): Checkpoint => checkpoint(key, { effect: 'delete', target: `storage_a:${key}` })

/** A run that asks for three deletes, which are held. */
async function hold(store: Store, needs = 1): Promise<{ lease: Lease; id: string }> {
  const lease = await claimLease(store, 'evt_1')
  for (const key of ['a', 'b', 'c']) {
    await beginDelete(store, lease, step(key), { limits: NONE, asked: asked(`/${key}`), needs })
  }
  const [approval] = await store.listApprovals({ limit: 1, now: NOW })
  return { lease, id: approval?.id ?? '' }
}

const kindOf = async (store: Store, lease: Lease, key: string, path = `/${key}`) =>
  (await beginDelete(store, lease, step(key), { limits: NONE, asked: asked(path) })).kind

async function hashOf(store: Store, approval: string, number: number): Promise<string> {
  const [item] = await store.listApprovalItems({ approval, after: number - 1, limit: 1 })
  return item?.hash.slice(0, 8) ?? ''
}

describeStores((test) => {
  test('an approval is for the list with its hash, and what joined later is in a fresh one', async ({ store }) => {
    const { lease, id } = await hold(store)
    const seen = await hashOf(store, id, 2)
    const result = await store.decideApproval(await wordOf(store, id, { hash: seen }), NOW)
    expect(result).toMatchObject({ status: 'approved', granted: 2, moved: 1, next: expect.stringMatching(/^apr_/) })
    expect([await kindOf(store, lease, 'a'), await kindOf(store, lease, 'b')]).toEqual(['granted', 'granted'])
    expect(await kindOf(store, lease, 'c')).toBe('held')
    expect(await store.findApproval(result.next ?? '', NOW)).toMatchObject({ status: 'open', openItems: 1 })
  })

  test('a no is about the whole list, also what joined after the hash that it names', async ({ store }) => {
    const { lease, id } = await hold(store)
    const word = await wordOf(store, id, { hash: await hashOf(store, id, 2), verdict: 'denied' })
    expect(await store.decideApproval(word, NOW)).toMatchObject({ status: 'denied', next: null })
    for (const key of ['a', 'b', 'c']) expect(await kindOf(store, lease, key)).toBe('denied')
  })

  test('an approval covers the state that was seen: a changed file asks again', async ({ store }) => {
    const { lease, id } = await hold(store)
    await store.decideApproval(await wordOf(store, id), NOW)
    const changed = await beginDelete(store, lease, step('a'), { limits: NONE, asked: asked('/a', 999) })
    expect(changed).toMatchObject({ kind: 'held', opened: true })
    const closed = { id, status: 'approved' }
    const expected = { kind: 'granted', approval: id, by: ['anna'], expect: asked('/b'), isRepeated: false, closed }
    expect(await beginDelete(store, lease, step('b'), { limits: NONE, asked: asked('/b') })).toEqual(expected)
  })

  test('no approval has an effect before the run has looked at its file', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const unseen = await beginDelete(store, lease, step('a'), { limits: NONE, isUnseen: true })
    expect(unseen).toMatchObject({ kind: 'held', approval: null, opened: false, isUnseen: true })
    expect(await store.listApprovals({ limit: 1, now: NOW })).toEqual([])
    const seen = await beginDelete(store, lease, step('a'), { limits: NONE, asked: asked('/a') })
    expect(seen).toMatchObject({ kind: 'held', opened: true })
    expect(await store.listApprovals({ limit: 9, now: NOW })).toMatchObject([{ items: 1, openItems: 1 }])
  })

  test('the items of a list are approved by number, and the others wait on', async ({ store }) => {
    const { lease, id } = await hold(store)
    const only = [
      { from: 1, to: 1 },
      { from: 3, to: 3 },
    ]
    expect(await store.decideApproval(await wordOf(store, id, { only }), NOW)).toMatchObject({ granted: 2, moved: 1 })
    expect(await kindOf(store, lease, 'a')).toBe('granted')
    expect(await kindOf(store, lease, 'b')).toBe('held')
    expect(await kindOf(store, lease, 'c')).toBe('granted')
  })

  test('a hash that the list does not have, and one that is too short, are refused', async ({ store }) => {
    const { id } = await hold(store)
    for (const hash of ['00000000', (await hashOf(store, id, 3)).slice(0, 7), '*', '']) {
      await expect(store.decideApproval(await wordOf(store, id, { hash }), NOW)).rejects.toMatchObject({
        code: 'list_changed',
      })
    }
  })

  test('two people have to agree to the same list, and one of them twice is one', async ({ store }) => {
    const { lease, id } = await hold(store, 2)
    expect(await store.decideApproval(await wordOf(store, id), NOW)).toMatchObject({ status: 'open', missing: 1 })
    expect(await store.decideApproval(await wordOf(store, id), NOW)).toMatchObject({ status: 'open', missing: 1 })
    const less = await wordOf(store, id, { actor: 'ben', hash: await hashOf(store, id, 1) })
    expect(await store.decideApproval(less, NOW)).toMatchObject({ status: 'open', missing: 1 })
    expect(await kindOf(store, lease, 'a')).toBe('held')
    expect(await store.decideApproval(await wordOf(store, id, { actor: 'ben' }), NOW)).toMatchObject({ granted: 3 })
    expect(await kindOf(store, lease, 'a')).toBe('granted')
  })

  test('a delete that began names the people who agreed to its list, and no other word', async ({ store }) => {
    const { lease, id } = await hold(store, 2)
    const first = await hashOf(store, id, 1)
    await store.decideApproval(await wordOf(store, id, { actor: 'cleo', hash: first }), NOW)
    await store.decideApproval(await wordOf(store, id, { actor: 'dan', only: [{ from: 2, to: 3 }] }), NOW)
    for (const actor of ['ben', 'anna']) await store.decideApproval(await wordOf(store, id, { actor }), NOW)
    expect(await kindOf(store, lease, 'a')).toBe('granted')
    const [begun] = await store.listEffects({ phases: ['begun'], limit: 9 })
    expect(begun).toMatchObject({ approval: id, actor: 'anna, ben' })
  })

  test('one denial is enough, and a decided approval takes no further word', async ({ store }) => {
    const { lease, id } = await hold(store, 2)
    expect(await store.decideApproval(await wordOf(store, id, { verdict: 'denied' }), NOW)).toMatchObject({
      status: 'denied',
    })
    expect(await kindOf(store, lease, 'a')).toBe('denied')
    await expect(store.decideApproval(await wordOf(store, id), NOW)).rejects.toThrow('is denied already')
  })

  test('an expired approval is denied to its runs and closed to people', async ({ store }) => {
    const { lease, id } = await hold(store)
    const later = NOW + 8 * DAY
    await expect(store.decideApproval(await wordOf(store, id), later)).rejects.toThrow('is expired already')
    expect(await store.listApprovals({ limit: 9, now: later, status: 'open' })).toEqual([])
    const permit = await beginDelete(store, lease, step('a'), { limits: NONE, asked: asked('/a'), now: later })
    expect(permit).toMatchObject({ kind: 'denied', reason: expect.stringContaining('has expired') })
    // It has ended for good, whatever the clock says next.
    expect(await store.findApproval(id, NOW)).toMatchObject({ status: 'expired' })
    await expect(store.decideApproval(await wordOf(store, id), NOW)).rejects.toThrow('is expired already')
  })

  test('from the first approver on, only a signed word of a registered person counts', async ({ store }) => {
    const { lease, id } = await hold(store)
    const pair = generateKeyPairSync('ed25519')
    const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const anna = { name: 'anna', publicKey, roles: ['storage-owners'], addedAt: NOW, removedAt: null }
    await store.addApprover(anna)
    await expect(store.addApprover(anna)).rejects.toMatchObject({ code: 'conflict' })
    const signed = (decision: Decision, key = pair.privateKey): Decision => ({
      ...decision,
      signature: sign(null, Buffer.from(describeVote(decision)), key),
    })
    const plain = await wordOf(store, id)
    const other = generateKeyPairSync('ed25519').privateKey
    const forged = { ...signed(await wordOf(store, id, { only: [{ from: 1, to: 1 }] })), only: null }
    for (const [decision, why] of [
      [plain, 'have to be signed'],
      [signed(plain, other), 'not that of "anna"'],
      [forged, 'not that of "anna"'],
      [signed({ ...plain, actor: 'ben' }), 'not a registered approver'],
    ] as const) {
      await expect(store.decideApproval(decision, NOW)).rejects.toThrow(why)
    }
    expect(await kindOf(store, lease, 'a')).toBe('held')
    expect(await store.decideApproval(signed(plain), NOW)).toMatchObject({ granted: 3 })
    expect(await store.findApproval(id, NOW)).toMatchObject({ votes: [{ actor: 'anna', isSigned: true }] })
  })

  test('the word of a removed approver does not count', async ({ store }) => {
    const { id } = await hold(store)
    const pair = generateKeyPairSync('ed25519')
    const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    await store.addApprover({ name: 'anna', publicKey, roles: [], addedAt: NOW, removedAt: null })
    expect(await store.removeApprover('anna', NOW)).toBe(true)
    expect(await store.removeApprover('anna', NOW)).toBe(false)
    const decision = await wordOf(store, id)
    const signature = sign(null, Buffer.from(describeVote(decision)), pair.privateKey)
    await expect(store.decideApproval({ ...decision, signature }, NOW)).rejects.toThrow('was removed')
  })

  test('an approved effect fills no window: a batch must not block everybody else', async ({ store }) => {
    const { lease, id } = await hold(store)
    await store.decideApproval(await wordOf(store, id), NOW)
    await kindOf(store, lease, 'a')
    const use = await store.listGuardUse(NOW)
    expect(use.filter(({ scope }) => scope === 'all').map((row) => row.class)).toEqual(['approved', 'approved'])
  })

  test('the commit that opens an approval starts the workflows that listen for it', async ({ store }) => {
    const tell = { id: 'tell', file: 'tell.ts', eventTypes: ['upshot.approval.opened'], schedule: null }
    const every = { id: 'every', file: 'every.ts', eventTypes: ['*'], schedule: null }
    await store.saveWorkflows({ workflows: [tell, every], broken: [] }, NOW)
    const { id } = await hold(store)
    expect(await store.listRuns({ limit: 9, workflow: 'every' })).toEqual([])
    const [run, ...others] = await store.listRuns({ limit: 9, workflow: 'tell' })
    expect(others).toEqual([])
    const [event] = await store.listRunEvents(run?.id ?? '')
    expect(JSON.parse(event?.body ?? '')).toMatchObject({ type: 'upshot.approval.opened', data: { approval: id } })
  })
})
