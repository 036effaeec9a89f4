import { expect } from 'vitest'
import { anchorOf, formatAnchor, readAnchors } from '../../src/core/safety/ledger/anchor.ts'
import { verifyLedger } from '../../src/core/safety/ledger/verify-ledger.ts'
import type { PruneProgress } from '../../src/core/store/retention.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'
import { countPrunable } from './support/count-prunable.ts'
import { deleteFiles } from './support/delete-files.ts'

const HOUR = 3_600_000
const seal = (store: Store, now = NOW, limit = 1_000) => store.sealEffects({ now, limit })

/** Prunes until nothing is left; returns how many rows went. */
async function pruneEffects(store: Store, before: number, limit = 3): Promise<number> {
  const foreseen = await countPrunable(store, 'effects', { before, now: NOW + 9 * HOUR })
  let pruned = 0
  for (let after: string | null = null, slice: PruneProgress; ; after = slice.next) {
    slice = await store.prune({ kind: 'effects', before, now: NOW + 9 * HOUR, limit, after })
    pruned += slice.pruned
    if (slice.next === null) {
      expect(foreseen).toMatchObject({ rows: pruned, isComplete: true })
      return pruned
    }
  }
}

describeStores((test, open) => {
  test('rows are sealed in the order of their numbers, each once, in batches of a limit', async ({ store }) => {
    expect(await seal(store)).toEqual({ rows: 0, head: null, hasDecision: false })
    await deleteFiles(store, ['a', 'b', 'c'])
    expect(await store.readSealState()).toEqual({ head: null, unsealed: 6, unsealedSince: NOW })
    expect(await seal(store, NOW, 4)).toMatchObject({ rows: 4, head: { number: 1, kind: 'rows', last: 4, rows: 4 } })
    expect(await seal(store, NOW + 1, 4)).toMatchObject({ rows: 2, head: { number: 2, last: 6, rows: 2, at: NOW + 1 } })
    expect(await seal(store)).toMatchObject({ rows: 0, head: { number: 2 } })
    const seals = await store.listSeals({ limit: 10 })
    expect(seals.map(({ number }) => number)).toEqual([1, 2])
    expect(await store.readSealState()).toEqual({ head: seals[1], unsealed: 0, unsealedSince: null })
    expect(await verifyLedger(store)).toMatchObject({ passed: true, effects: 6, sealed: 6, seals: 2, faults: [] })
  })

  test('rows that no seal covers are counted apart, and break nothing', async ({ store }) => {
    await deleteFiles(store, ['a'])
    await seal(store)
    await deleteFiles(store, ['b'])
    expect(await verifyLedger(store)).toMatchObject({ passed: true, effects: 4, sealed: 2 })
  })

  test('two processes that seal at once make one chain', async ({ store, reopen }) => {
    const other = await reopen()
    await deleteFiles(
      store,
      Array.from({ length: 10 }, (_, n) => `f${n}`),
    )
    await Promise.all([store, other, store, other, store, other].map((each) => seal(each, NOW, 4)))
    const seals = await other.listSeals({ limit: 10 })
    expect(seals.map(({ last }) => last)).toEqual([4, 8, 12, 16, 20])
    expect(await verifyLedger(other)).toMatchObject({ passed: true, sealed: 20 })
  })

  test("a person's decisions and switches are named, so that they are anchored at once", async ({ store }) => {
    await store.stopEffects({ kind: 'all', name: '', since: NOW, actor: 'ada', reason: 'no' })
    expect(await seal(store)).toMatchObject({ rows: 1, hasDecision: true })
  })

  test('an anchor of the chain is found, and the rows after it are counted', async ({ store }) => {
    await deleteFiles(store, ['a'])
    const { head } = await seal(store)
    if (!head) throw new Error('nothing was sealed')
    const anchors = readAnchors(`a line of a log\n${formatAnchor(anchorOf(head, NOW))}\n{"seal":`)
    expect(anchors).toEqual([{ seal: 1, last: 2, at: NOW, mac: head.mac }])
    await deleteFiles(store, ['b'])
    await seal(store, NOW + HOUR)
    const report = await verifyLedger(store, { anchors })
    expect(report).toMatchObject({ passed: true, anchored: anchors[0], sinceAnchor: 2 })
  })

  test('an anchor that the chain does not have is a break, until a person names the restoration', async ({ store }) => {
    await deleteFiles(store, ['a'])
    const { head } = await seal(store)
    const mac = 'ab'.repeat(32)
    const lost = [1, 5].map((number) => anchorOf({ number, last: 40, mac }, NOW + HOUR))
    expect((await verifyLedger(store, { anchors: lost })).faults).toEqual([
      `seal 1 is another one than in the anchor of ${new Date(NOW + HOUR).toISOString()} (seal 1)`,
      `the chain ends at seal 1, before the anchor of ${new Date(NOW + HOUR).toISOString()} (seal 5)`,
    ])
    const restored = await store.noteRestored({ actor: 'cli:ada', reason: 'a broken disk', now: NOW + 2 * HOUR })
    expect(restored).toMatchObject({
      number: (head?.number ?? 0) + 1,
      kind: 'restored',
      note: 'cli:ada: a broken disk',
    })
    expect(await verifyLedger(store, { anchors: lost.slice(1) })).toMatchObject({
      passed: true,
      restored: [{ seal: 2, at: NOW + 2 * HOUR, note: 'cli:ada: a broken disk' }],
    })
    // It explains neither what the backup had, nor what is lost later.
    expect(await verifyLedger(store, { anchors: lost })).toMatchObject({ faultCount: 1 })
    const later = anchorOf({ number: 5, last: 40, mac }, NOW + 3 * HOUR)
    expect(await verifyLedger(store, { anchors: [later] })).toMatchObject({ faultCount: 1 })
    expect((await store.listEffects({ limit: 1 }))[0]).toMatchObject({ operation: 'restored', actor: 'cli:ada' })
  })

  test('a restoration that is named late explains the anchors whose numbers have been given again', async ({
    store,
  }) => {
    await deleteFiles(store, ['a'])
    await seal(store)
    const lost = anchorOf({ number: 2, last: 40, mac: 'ab'.repeat(32) }, NOW + HOUR)
    await deleteFiles(store, ['b'])
    await seal(store, NOW + 2 * HOUR)
    expect(await verifyLedger(store, { anchors: [lost] })).toMatchObject({ faultCount: 1 })
    const { number } = await store.noteRestored({ actor: 'cli:ada', reason: 'a broken disk', now: NOW + 3 * HOUR })
    expect(number).toBe(3)
    expect(await verifyLedger(store, { anchors: [lost] })).toMatchObject({ passed: true, faults: [] })
    const later = { ...lost, at: NOW + 2.5 * HOUR }
    expect(await verifyLedger(store, { anchors: [later] })).toMatchObject({ faultCount: 1 })
  })

  test('rows go by the age of their seals, the chain says which, and stays whole at each moment', async ({ store }) => {
    for (const [n, name] of ['a', 'b', 'c'].entries()) {
      await deleteFiles(store, [name, `${name}2`])
      await seal(store, NOW + n * HOUR)
    }
    const { head } = await store.readSealState()
    if (!head) throw new Error('nothing was sealed')
    let after: string | null = null
    for (let slices = 0; slices < 100; slices++) {
      const slice: PruneProgress = await store.prune({ kind: 'effects', before: NOW + HOUR + 1, limit: 3, after })
      expect(await verifyLedger(store, { anchors: [anchorOf(head, NOW)] })).toMatchObject({ passed: true, faults: [] })
      after = slice.next
      if (after === null) break
    }
    const rows = await store.listEffects({ after: 0, limit: 100 })
    expect(rows.map(({ seq }) => seq)).toEqual([9, 10, 11, 12, 13])
    expect(rows.at(-1)).toMatchObject({ phase: 'noted', operation: 'prune', outcome: 'rows up to 8' })
    expect(await verifyLedger(store)).toMatchObject({ prunedTo: 8, effects: 5, sealed: 4, seals: 4 })
  })

  test('the rows of the newest seal and those without a seal stay, however old they are', async ({ store }) => {
    await deleteFiles(store, ['a'])
    await seal(store)
    expect(await pruneEffects(store, NOW + HOUR)).toBe(0)
    await deleteFiles(store, ['b'])
    expect(await pruneEffects(store, NOW + HOUR)).toBe(0)
    await seal(store)
    expect(await pruneEffects(store, NOW + HOUR)).toBe(2)
    await deleteFiles(store, ['c'])
    const [newest] = await store.listEffects({ limit: 1 })
    expect(newest?.seq).toBeGreaterThan(4)
    expect(await verifyLedger(store)).toMatchObject({ passed: true })
  })

  test('a delete whose beginning retention took still ends in the ledger, with what its look found', async () => {
    const { store } = await open()
    await queueRun(store, 'evt_long')
    const { lease } = await claimNext(store, NOW)
    const step = checkpoint('slow', { effect: 'delete', target: 'storage_a:slow' })
    await beginDelete(store, lease, step)
    await seal(store)
    await deleteFiles(store, ['a'])
    await seal(store, NOW + 2 * HOUR)
    expect(await pruneEffects(store, NOW + HOUR)).toBe(1)
    const before = JSON.stringify({ path: '/slow', bytes: 1, modifiedAt: null, sha256: null })
    const output = JSON.stringify({ outcome: 'deleted', proof: 'reply' })
    await store.saveCheckpoint(lease, { ...step, output }, undefined, { effect: { input: null, before } })
    const about = { runId: lease.runId, step: 'slow', account: 'default', workflow: 'follow-up' }
    expect(await store.listEffects({ target: 'storage_a:slow', limit: 10 })).toMatchObject([
      { phase: 'done', class: 'delete', ofSeq: null, outcome: 'deleted', before, ...about },
    ])
    expect(await verifyLedger(store)).toMatchObject({ passed: true })
  })

  test('rows stay when their run is pruned', async ({ store }) => {
    const lease = await deleteFiles(store, ['a'])
    await seal(store)
    await store.completeRun(lease, 'null', NOW)
    await store.prune({ kind: 'runs', before: NOW + HOUR, limit: 100, after: null })
    expect(await store.findRun(lease.runId)).toBeNull()
    expect(await store.listEffects({ target: 'storage_a:a', limit: 9 })).toHaveLength(2)
    expect(await verifyLedger(store)).toMatchObject({ passed: true, sealed: 2 })
  })
})
