import { expect } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { Hook, HookAnswer } from '../../src/core/incoming/hook.ts'
import { SCHEME_PRESETS } from '../../src/core/incoming/signature.ts'
import type { Lease } from '../../src/core/runs/lease.ts'
import { asOperator } from '../../src/core/store/as-operator.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { claimNext } from './support/claim-next.ts'
import { claimLease, statusOf, WAIT } from './support/waiting-runs.ts'

const HOUR = 3_600_000
const ID = 'hok_00000000000000000000000001'
const SECRET = 'canary-secret-of-a-scanner'
const hook: Omit<Hook, 'runId' | 'step'> = {
  id: ID,
  account: 'default',
  ask: null,
  data: { type: 'object' },
  isMany: false,
  sign: { scheme: SCHEME_PRESETS.hex, secret: SECRET },
  openedAt: NOW,
  expiresAt: NOW + HOUR,
}
const opened = checkpoint('scan', { kind: 'hook', effect: 'read', target: ID, position: 0 })
const waiting = checkpoint('scanned', { kind: 'wait', status: 'waiting', output: null, finishedAt: null, position: 1 })

/** A run with a hook, at work. */
async function openHook(store: Store, part: Partial<typeof hook> = {}): Promise<Lease> {
  const lease = await claimLease(store)
  await store.saveCheckpoint(lease, opened, undefined, { hook: { ...hook, ...part } })
  return lease
}

const waitAt = (store: Store, lease: Lease, since: (typeof WAIT)['since'] = 'run') =>
  store.saveCheckpoint(lease, waiting, undefined, { isSettled: true, wait: { ...WAIT, since, hook: ID } })
const park = (store: Store, lease: Lease) =>
  store.parkRun(lease, { dueAt: NOW + HOUR, reason: 'waits', awaits: ['scanned'] })

function answer(part: Partial<HookAnswer> = {}): HookAnswer {
  const delivery = newId('dlv', NOW + 1)
  const about = { hook: ID, delivery, by: null, data: '{"verdict":"clean"}', sameness: 'clean' }
  return { ...about, receivedAt: NOW + 1, bodyBytes: 19, facts: { hook: ID }, ...part }
}

describeStores((test, openStore) => {
  test('an answer is an event, wakes the run in its own commit, and has a delivery', async () => {
    const { store } = await openStore()
    const lease = await openHook(store)
    await waitAt(store, lease)
    await park(store, lease)
    expect(await statusOf(store, lease)).toBe('waiting')
    const given = answer()
    const receipt = await store.answerHook(given)
    expect(receipt).toMatchObject({ verdict: 'accepted', resolved: 1, event: { type: 'upshot.hook.answered' } })
    expect(await statusOf(store, lease)).toBe('pending')
    const found = await store.findMatch(lease.runId, 'scanned')
    expect(JSON.parse(found?.body ?? '')).toMatchObject({
      data: { hook: ID, run: lease.runId, step: 'scan', delivery: given.delivery, data: { verdict: 'clean' } },
    })
    const story = await store.findDelivery(given.delivery ?? '')
    expect(story).toMatchObject({ delivery: { verdict: 'accepted', endpointId: null, bodyBytes: 19 } })
    expect(story?.event?.id).toBe(receipt.event?.id)
    expect(await store.listDeliveriesOf({ id: receipt.event?.id ?? '', account: 'default' }, 9)).toHaveLength(1)
  })

  test('it is taken once: the same again is a duplicate, another one is refused, and nothing changes', async () => {
    const { store, reopen } = await openStore()
    const lease = await openHook(store)
    const other = await reopen()
    const verdicts = await Promise.all([
      ...['clean', 'clean', 'infected'].map((sameness) => store.answerHook(answer({ sameness }))),
      ...['clean', 'infected', 'clean'].map((sameness) => other.answerHook(answer({ sameness }))),
    ])
    const counts = Map.groupBy(verdicts, ({ verdict }) => verdict)
    expect(counts.get('accepted')).toHaveLength(1)
    expect((counts.get('duplicate')?.length ?? 0) + (counts.get('answered')?.length ?? 0)).toBe(5)
    expect(await store.listHooks(lease.runId)).toMatchObject([{ id: ID, answers: 1, isAwaited: true }])
    expect((await store.listEvents({ limit: 9 })).filter(({ type }) => type.startsWith('upshot.'))).toHaveLength(1)
  })

  test('a wait and an answer at the same moment always meet', async () => {
    const { store, reopen } = await openStore()
    const other = await reopen()
    const lease = await openHook(store, { isMany: true })
    for (let turn = 0; turn < 25; turn++) {
      const after = (await store.findMatch(lease.runId, 'scanned'))?.id
      const since = { after: after === undefined ? [] : [after] }
      await Promise.all([waitAt(store, lease, since), other.answerHook(answer({ sameness: `turn ${turn}` }))])
      expect(await store.listEndedWaits(lease.runId)).toEqual(['scanned'])
    }
  })

  test('answers of a hook with `many` come in their order, after those that were taken', async () => {
    const { store } = await openStore()
    const lease = await openHook(store, { isMany: true })
    const events = []
    for (const sameness of ['1', '2', '2', '3']) events.push((await store.answerHook(answer({ sameness }))).event?.id)
    const taken: string[] = []
    for (let turn = 0; turn < 3; turn++) {
      await waitAt(store, lease, { after: taken })
      taken.push((await store.findMatch(lease.runId, 'scanned'))?.id ?? 'none')
    }
    expect(taken).toEqual([events[0], events[1], events[3]])
    await waitAt(store, lease, { after: taken })
    expect(await store.findMatch(lease.runId, 'scanned')).toBeNull()
  })

  test('after the end of the run, and after its time, it takes only the answer that it has', async () => {
    const { store } = await openStore()
    const lease = await openHook(store)
    const late = await store.answerHook(answer({ receivedAt: NOW + HOUR }))
    expect(late.verdict).toBe('closed')
    await store.answerHook(answer())
    await store.completeRun(lease, 'null', NOW)
    expect((await store.answerHook(answer())).verdict).toBe('duplicate')
    expect((await store.answerHook(answer({ sameness: 'infected' }))).verdict).toBe('closed')
    expect(await store.findHook(ID)).toMatchObject({ isAwaited: false, answers: 1 })
    expect((await store.answerHook(answer({ hook: 'hok_00000000000000000000000009' }))).verdict).toBe('unknown_hook')
    expect(await store.findHook('hok_00000000000000000000000009')).toBeNull()
  })

  test('a person answers in an audited commit, and hears why nothing is taken', async () => {
    const { store } = await openStore()
    const lease = await openHook(store)
    const anna = asOperator(
      store,
      { actor: 'anna', role: 'operator', from: 'the test', reason: 'by phone' },
      { now: () => NOW + 2 },
    )
    const word = answer({ delivery: null, by: 'anna' })
    expect(await anna.answerHook(word)).toMatchObject({ verdict: 'accepted' })
    await expect(anna.answerHook({ ...word, sameness: 'other' })).rejects.toMatchObject({ code: 'conflict' })
    const actions = await store.listActions({ limit: 9, target: ID })
    expect(actions.map(({ action, outcome, actor }) => [action, outcome, actor])).toEqual([
      ['hook.answer', 'refused', 'anna'],
      ['hook.answer', 'done', 'anna'],
    ])
    expect(await store.listHooks(lease.runId)).toMatchObject([{ answers: 1 }])
  })

  test('a hook outlives the run that opened it as long as a fork may wait at it', async () => {
    const { store } = await openStore()
    const prune = { kind: 'failures', before: NOW + 9, limit: 99, after: null } as const
    const { runId } = await openHook(store)
    await store.cancelRun(runId, 'by hand', NOW)
    const fork = await store.forkRun(runId, { keys: ['scan'], edited: null }, NOW)
    const { lease } = await claimNext(store)
    await waitAt(store, lease)
    await park(store, lease)
    expect(await store.prune(prune)).toMatchObject({ pruned: 1 })
    expect(await store.findRun(runId)).toBeNull()
    expect(await store.answerHook(answer())).toMatchObject({ verdict: 'accepted', resolved: 1 })
    expect(await store.findMatch(fork, 'scanned')).not.toBeNull()
    await store.cancelRun(fork, 'by hand', NOW)
    expect(await store.prune(prune)).toMatchObject({ pruned: 1 })
    expect(await store.findHook(ID)).toBeNull()
  })

  test('the key is one for all processes, and the secret of a sender opens again', async () => {
    const { store, reopen } = await openStore()
    const other = await reopen()
    const [one, two] = await Promise.all([store.loadHookKey(), other.loadHookKey()])
    expect(one).toMatch(/^[0-9a-f]{64}$/)
    expect(two).toBe(one)
    await openHook(store)
    expect(await other.findHook(ID)).toMatchObject({ sign: { secret: SECRET }, isSigned: true })
    expect(JSON.stringify(await other.listHooks((await other.findHook(ID))?.runId ?? ''))).not.toContain(SECRET)
  })
})
