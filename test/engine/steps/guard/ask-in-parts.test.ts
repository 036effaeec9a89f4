import { expect, test } from 'vitest'
import type { Lease } from '../../../../src/core/runs/lease.ts'
import type { EffectPermit } from '../../../../src/core/safety/effect.ts'
import { MAX_TOGETHER } from '../../../../src/core/safety/effect-group.ts'
import type { Limit } from '../../../../src/core/safety/guard.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { askInParts } from '../../../../src/engine/steps/guard/ask-in-parts.ts'
import { deleteAsk } from '../../../contract/support/begin-delete.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, NOW, queueRun } from '../../../support/fixtures.ts'
import { openTestStore } from '../../../support/test-store.ts'

const SIZE = 2 * MAX_TOGETHER + 20
/** Store calls for such a list: three parts, the decision, and the three parts again. */
const CALLS = 7
const OPTIONS = { now: NOW, expiresAt: NOW + 86_400_000, needs: 1 }
const ALL = { kind: 'all', name: '' } as const
const BY = { actor: 'ada', reason: 'wrong files' }

const limitOf = (most: number): Limit => {
  const setting = 'guard.all.deletes.perDay'
  return { scope: 'all', what: 'deletes', window: 'day', most, setting, over: 'approve' }
}

/** Asks for a list of deletes; `beside` is called with the number of each store call before it. */
function askFor(store: Store, lease: Lease, most: number, beside: (call: number) => Promise<void> | void) {
  let calls = 0
  let lists = 0
  const counted = async <T>(call: () => Promise<T>): Promise<T> => {
    await beside(++calls)
    return call()
  }
  const asks = Array.from({ length: SIZE }, (_, n) => {
    const asked = { path: `/f${n}`, bytes: 1, modifiedAt: null }
    return deleteAsk(checkpoint(`d${n}`, { target: `storage_a:f${n}` }), { limits: [limitOf(most)], asked })
  })
  return askInParts(
    {
      takeList: () => lists++,
      beginEffects: () => Promise.reject(new Error('a long list is not one commit')),
      beginPart: (some, part, options) => counted(() => store.beginPart(lease, some, part, options)),
      reserveEffects: (list, shares, options) => counted(() => store.reserveEffects(lease, list, shares, options)),
    },
    lease.runId,
    { asks, options: OPTIONS },
  )
}

async function open() {
  const store = openTestStore()
  await queueRun(store)
  return { store, lease: (await claimNext(store)).lease }
}

/** Beginnings in the ledger, and deletes that the guard counts. */
async function count(store: Store) {
  const rows = await store.listEffects({ phases: ['begun'], limit: 10 * SIZE })
  const uses = await store.listGuardUse(NOW)
  const use = uses.find((each) => each.scope === 'all' && each.window === 'day' && each.class === 'delete')
  return { begun: rows.length, steps: new Set(rows.map(({ step }) => step)).size, counted: use?.count ?? 0 }
}

const kindsOf = (permits: readonly EffectPermit[]) => [...new Set(permits.map(({ kind }) => kind))]

test('a long list begins in parts, and is counted once', async () => {
  const { store, lease } = await open()
  let calls = 0
  const permits = await askFor(store, lease, SIZE, (call) => {
    calls = call
  })
  expect([permits.length, kindsOf(permits), calls]).toEqual([SIZE, ['granted'], CALLS])
  expect(await count(store)).toEqual({ begun: SIZE, steps: SIZE, counted: SIZE })
})

test('nothing of a long list over a limit begins, and one approval shows all of it in its order', async () => {
  const { store, lease } = await open()
  const permits = await askFor(store, lease, SIZE - 1, () => {})
  expect(kindsOf(permits)).toEqual(['held'])
  expect(await count(store)).toEqual({ begun: 0, steps: 0, counted: 0 })
  const [approval, ...others] = await store.listApprovals({ limit: 9, now: NOW })
  expect([approval?.openItems, others]).toEqual([SIZE, []])
  const items = await store.listApprovalItems({ approval: approval?.id ?? '', limit: SIZE })
  expect(items.map(({ step }) => step)).toEqual(Array.from({ length: SIZE }, (_, n) => `d${n}`))
})

test.each(Array.from({ length: CALLS }, (_, index) => index + 1))(
  'a pass that ends at call %i of a long list leaves nothing that the next one counts twice or holds',
  async (last) => {
    const { store, lease } = await open()
    const died = askFor(store, lease, SIZE, (call) => {
      if (call > last) throw new Error('the process died')
    })
    await died.catch(() => {})
    await store.releaseRun(lease)
    const { lease: next } = await claimNext(store)
    expect(kindsOf(await askFor(store, next, SIZE, () => {}))).toEqual(['granted'])
    expect(await count(store)).toEqual({ begun: SIZE, steps: SIZE, counted: SIZE })
  },
)

test.each(Array.from({ length: CALLS }, (_, index) => index + 1))(
  'a stop before call %i of a long list lets no later part begin, and its end lets the rest',
  async (at) => {
    const { store, lease } = await open()
    let before = 0
    const permits = await askFor(store, lease, SIZE, async (call) => {
      if (call !== at) return
      before = (await count(store)).begun
      await store.stopEffects({ ...ALL, ...BY, since: NOW })
    })
    expect((await count(store)).begun).toBe(before)
    expect(permits.filter(({ kind }) => kind === 'stopped')).toHaveLength(SIZE - before)
    await store.resumeEffects(ALL, { ...BY, now: NOW })
    expect(kindsOf(await askFor(store, lease, SIZE, () => {}))).toEqual(['granted'])
    expect(await count(store)).toMatchObject({ begun: SIZE, counted: SIZE })
  },
)

test.each([2, 3, 4, 5])('a stop that goes again before call %i splits no list that is over a limit', async (end) => {
  const { store, lease } = await open()
  const permits = await askFor(store, lease, SIZE - 1, async (call) => {
    if (call === 1) await store.stopEffects({ ...ALL, ...BY, since: NOW })
    if (call === end) await store.resumeEffects(ALL, { ...BY, now: NOW })
  })
  expect(permits.some(({ kind }) => kind === 'granted')).toBe(false)
  expect(await count(store)).toEqual({ begun: 0, steps: 0, counted: 0 })
})

test('a list for which stops come and go again and again is not decided', async () => {
  const { store, lease } = await open()
  const asked = askFor(store, lease, SIZE, async (call) => {
    if (call % 2 === 1) await store.stopEffects({ ...ALL, ...BY, since: NOW })
    else await store.resumeEffects(ALL, { ...BY, now: NOW })
  })
  await expect(asked).rejects.toMatchObject({ code: 'conflict' })
  expect((await count(store)).begun).toBe(0)
})
