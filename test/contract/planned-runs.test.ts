import { expect } from 'vitest'
import { planLimit } from '../../src/core/safety/guard.ts'
import { asOperator } from '../../src/core/store/as-operator.ts'
import type { PlannedRun } from '../../src/core/store/planned-run.ts'
import { hashPlanned } from '../../src/core/store/planned-run.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'

const RUN = 'run_1kplanned0000000000000000a'
const APPROVAL = 'apr_1kplanned0000000000000000a'
const asked = (path: string, bytes = 7) => ({ path, bytes, modifiedAt: null })
const item = (key: string) => ({ step: key, target: `storage_a:${key}`, asked: asked(`/${key}`) })
const LIMITS = [planLimit({ runId: RUN }, 'delete')]

function planned(part: Partial<PlannedRun> = {}): PlannedRun {
  const about = { run: RUN, approval: APPROVAL, why: 'under a plan', items: [item('a'), item('b')], needs: 1 }
  return { event: { id: 'evt_1', account: 'default' }, workflow: 'follow-up', ...about, expiresAt: NOW + 1, ...part }
}

const hashOf = hashPlanned

async function start(store: Store, plan: PlannedRun, hash = hashOf(plan), actor = 'anna') {
  return store.startPlanned(plan, { actor, reason: 'as planned', hash, signature: null }, NOW)
}

/** A store with an event whose first run is over. */
async function withEvent(store: Store): Promise<Store> {
  await queueRun(store)
  await store.completeRun((await claimNext(store, NOW)).lease, 'null', NOW)
  return store
}

describeStores((test, open) => {
  test('a run starts with an approval of just its plan, and all else is held', async () => {
    const store = await withEvent((await open()).store)
    expect(await start(store, planned())).toMatchObject({ status: 'approved', granted: 2, missing: 0 })
    const claimed = await claimNext(store, NOW)
    expect(claimed).toMatchObject({ origin: 'plan', lease: { runId: RUN } })
    const ask = (key: string, path = `/${key}`) =>
      beginDelete(store, claimed.lease, checkpoint(key, { target: `storage_a:${key}` }), {
        limits: LIMITS,
        asked: asked(path),
      })
    expect(await ask('a')).toMatchObject({ kind: 'granted', approval: APPROVAL, expect: asked('/a') })
    expect(await ask('c')).toMatchObject({
      kind: 'held',
      reason: expect.stringContaining('outside of the plan that the run was started with'),
    })
    expect(await ask('b', '/moved')).toMatchObject({ kind: 'held' })
    const [effect] = await store.listEffects({ limit: 9, phases: ['begun'] })
    expect(effect).toMatchObject({ target: 'storage_a:a', approval: APPROVAL, actor: 'anna' })
    expect(await store.findRun(RUN)).toMatchObject({ origin: 'plan', originRun: expect.stringMatching(/^run_/) })
    const [open2] = await store.listApprovals({ limit: 9, now: NOW, status: 'open' })
    expect(open2).toMatchObject({ openItems: 2, runs: 1 })
  })

  test('another list than the named one starts nothing', async () => {
    const store = await withEvent((await open()).store)
    const less = hashOf(planned({ items: [item('a')] }))
    const other = hashOf(planned({ items: [item('a'), { ...item('b'), asked: asked('/b', 8) }] }))
    await expect(start(store, planned(), other)).rejects.toMatchObject({ code: 'list_changed' })
    expect(await store.findRun(RUN)).toBeNull()
    expect(await store.listApprovals({ limit: 9, now: NOW })).toEqual([])
    expect(await start(store, planned(), less)).toMatchObject({ granted: 1, moved: 1 })
  })

  test('where two people have to agree, the list waits for the second one', async () => {
    const store = await withEvent((await open()).store)
    const plan = planned({ needs: 2, expiresAt: NOW + 86_400_000 })
    expect(await start(store, plan)).toMatchObject({ status: 'open', missing: 1 })
    const { lease } = await claimNext(store, NOW)
    const ask = () =>
      beginDelete(store, lease, checkpoint('a', { target: 'storage_a:a' }), { limits: LIMITS, asked: asked('/a') })
    expect(await ask()).toMatchObject({ kind: 'held', approval: APPROVAL })
    const word = { approval: APPROVAL, verdict: 'approved', actor: 'ben', reason: null, hash: hashOf(plan) } as const
    await store.decideApproval({ ...word, only: null, answer: null, signature: null }, NOW)
    expect(await ask()).toMatchObject({ kind: 'granted', approval: APPROVAL })
  })

  test('a plan without effects starts a run in which everything asks', async () => {
    const store = await withEvent((await open()).store)
    expect(await start(store, planned({ items: [] }), 'none')).toMatchObject({ status: 'approved', granted: 0 })
    const { lease } = await claimNext(store, NOW)
    const step = checkpoint('a', { target: 'storage_a:a' })
    expect(await beginDelete(store, lease, step, { limits: LIMITS, asked: asked('/a') })).toMatchObject({
      kind: 'held',
    })
  })

  test('the audit log names the plan, its run and who approved it', async () => {
    const store = await withEvent((await open()).store)
    const plan = planned()
    const word = { actor: 'anna', reason: 'as planned', hash: hashOf(plan), signature: null }
    const operator = { actor: 'cli:anna', role: 'owner', from: 'desk', reason: 'as planned' }
    await asOperator(store, operator, { now: () => NOW }).startPlanned(plan, word, NOW)
    const [row] = await store.listActions({ limit: 1 })
    expect(row).toMatchObject({
      action: 'event.replay_plan',
      target: 'evt_1',
      outcome: 'done',
      parameters: { run: RUN, approval: APPROVAL, effects: 2, as: 'anna' },
    })
  })
})
