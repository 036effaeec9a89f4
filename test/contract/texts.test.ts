import { expect } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { Words } from '../../src/core/safety/create-eraser.ts'
import { verifyLedger } from '../../src/core/safety/ledger/verify-ledger.ts'
import { searchTexts } from '../../src/core/store/search-texts.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, eventBody, incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete, NONE } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'
import { deleteFiles } from './support/delete-files.ts'
import { claimLease, QUESTION } from './support/waiting-runs.ts'
import { wordOf } from './support/word-of.ts'

const ANNA: Words = { kind: 'text', text: 'Anna Meier' }
const by = { actor: 'ben', reason: 'request 7', now: NOW + 1 }

/** A finished run with the name in every place that a run has, and deletes of its files. */
async function liveOfAnna(store: Store): Promise<string> {
  await deleteFiles(store, ['Anna Meier.pdf', 'other.pdf'])
  const data = { owner: 'Anna Meier', note: 'say "Anna Meier"' }
  const body = eventBody('evt_anna', 'file.created', data)
  await store.saveDelivery(incoming('evt_anna', { body, facts: { reason: 'of anna meier' } as never }))
  const { lease } = await claimNext(store)
  const large = await store.packOutput(JSON.stringify({ all: `${'x'.repeat(9_000)} Anna Meier` }))
  const file = checkpoint('copy[/in/Anna Meier.pdf]', { output: JSON.stringify(JSON.stringify(data)) })
  const failure = { key: file.key, attempt: 1, at: NOW, error: { name: 'Error', message: 'no Anna Meier' } }
  await store.saveCheckpoint(lease, file, failure, { tags: { person: 'Anna Meier' } })
  await store.saveCheckpoint(lease, checkpoint('list', { output: null, position: 1 }), undefined, {
    packed: large.data,
  })
  const line = { runId: lease.runId, at: NOW, level: 'info', message: 'for Anna Meier' } as const
  await store.saveRunLog([{ ...line, facts: '{"who":"Anna Meier"}' }])
  await store.completeRun(lease, JSON.stringify(data), NOW)
  await store.recordAction(
    {
      actor: 'ben',
      role: 'admin',
      origin: 'cli',
      from: 'here',
      reason: 'Anna Meier asked',
      at: NOW,
      action: 'run.retry',
      target: lease.runId,
      parameters: {},
    } as never,
    'done',
  )
  return lease.runId
}

async function eraseAll(store: Store, words: Words): Promise<number> {
  let erased = 0
  await searchTexts(store, words, {
    onFound: async (table, found) => {
      erased += await store.eraseTexts({ words, table, keys: found.map(({ key }) => key), ...by })
    },
  })
  return erased
}

describeStores((test, openStore) => {
  test('a name is found in every place of a finished run, and is gone from all of them', async () => {
    const { store } = await openStore()
    const run = await liveOfAnna(store)
    await store.sealEffects({ now: NOW, limit: 100 })
    const sealed = await store.readSealState()
    const { places, rows, neededBy } = await searchTexts(store, ANNA)
    const found = new Set(places.map(({ table, column }) => `${table}.${column}`.replace('event_body', 'event')))
    expect(found).toEqual(
      new Set([
        'event.body',
        'delivery.facts',
        'outcome.output',
        'run_log.message',
        'run_log.facts',
        'run_tag.value',
        'step.output',
        'step.target',
        'step.key',
        'step_failure.error',
        'step_failure.key',
        'large_output.packed',
        'effect.operation',
        'effect.target',
        'effect.path',
        'effect.step',
        'effect.asked',
        'effect.before',
        'audit.reason',
      ]),
    )
    // The run of the deletes is unfinished, and needs its rows.
    const [deleting] = neededBy
    expect(neededBy).toHaveLength(1)
    await store.cancelRun(deleting ?? '', 'for the test', NOW)
    expect((await searchTexts(store, ANNA)).neededBy).toEqual([])

    expect(await eraseAll(store, ANNA)).toBe(rows)
    expect((await searchTexts(store, ANNA)).rows).toBe(0)
    const [step] = await store.listSteps(run)
    expect(step?.key).toMatch(/^copy\[\/in\/\[erased [0-9a-f]{8}\].pdf\]$/)
    expect(await store.listStepFailures(run)).toMatchObject([{ key: step?.key }])
    expect(JSON.parse(JSON.parse(step?.output ?? ''))).toEqual({ owner: '[erased]', note: 'say "[erased]"' })
    expect(await store.readOutput(run, 'list')).toContain('[erased]')
    expect(await store.listRunLog(run)).toMatchObject([{ message: 'for [erased]', facts: '{"who":"[erased]"}' }])
    // A second time, there is nothing to do.
    expect(await eraseAll(store, ANNA)).toBe(0)

    // The seals of before hold, and a person's row tells of the erasure.
    expect((await store.listSeals({ limit: 1 }))[0]?.mac).toBe(sealed.head?.mac)
    expect(await verifyLedger(store)).toMatchObject({ passed: true, faults: [], erased: 2 })
    const [word] = await store.listEffects({ limit: 1 })
    expect(word).toMatchObject({ phase: 'noted', operation: 'erase', actor: 'ben', error: 'request 7' })
    expect(JSON.stringify(word)).not.toMatch(/anna/i)
    // More of a row may go later.
    expect(await eraseAll(store, { kind: 'path', text: '/in' })).toBeGreaterThan(0)
    expect(await verifyLedger(store)).toMatchObject({ passed: true, faults: [] })
  })

  test('the list of an approval keeps its text while another run rests on it', async () => {
    const { store } = await openStore()
    const hold = async (name: string) => {
      const lease = await claimLease(store, `evt_${name}`)
      const step = checkpoint('rm', { effect: 'delete', target: `storage_a:${name}`, output: null })
      const asked = { path: `/in/${name}.pdf`, bytes: 1, modifiedAt: null }
      await beginDelete(store, lease, step, { limits: NONE, asked })
      return { lease, begin: () => beginDelete(store, lease, step, { limits: NONE, asked }) }
    }
    const anna = await hold('Anna Meier')
    const other = await hold('other')
    await store.cancelRun(anna.lease.runId, 'a person asks for an erasure', NOW)
    expect((await searchTexts(store, ANNA)).neededBy).toEqual([other.lease.runId])
    const [approval] = await store.listApprovals({ limit: 1, now: NOW })
    await store.decideApproval(await wordOf(store, approval?.id ?? ''), NOW)
    expect((await searchTexts(store, ANNA)).neededBy).toEqual([other.lease.runId])
    expect(await other.begin()).toMatchObject({ kind: 'granted' })
    expect((await searchTexts(store, ANNA)).neededBy).toEqual([])
  })

  test('a question keeps what it shows while its run waits for the answer', async () => {
    const { store } = await openStore()
    const lease = await claimLease(store, 'evt_1')
    const approve = { ...QUESTION, show: { owner: 'Anna Meier' }, expiresAt: NOW + 1_000 }
    const open = { kind: 'approve', effect: 'read', status: 'waiting', output: null, finishedAt: null } as const
    await store.saveCheckpoint(lease, checkpoint('ask', open), undefined, { approve })
    expect((await searchTexts(store, ANNA)).neededBy).toEqual([lease.runId])
    await store.cancelRun(lease.runId, 'a person asks for an erasure', NOW)
    expect((await searchTexts(store, ANNA)).neededBy).toEqual([])
  })

  test('an event of which text was erased is still known, and another one with its id is a conflict', async () => {
    const { store } = await openStore()
    const body = eventBody('evt_1', 'file.created', { owner: 'Anna Meier' })
    await store.saveDelivery(incoming('evt_1', { body, workflows: [] }))
    await eraseAll(store, ANNA)
    expect((await store.listEvents({ limit: 1 })).map((event) => event.body).join()).toContain('"owner":"[erased]"')
    const again = { id: newId('dlv', NOW + 1), workflows: [] }
    expect(await store.saveDelivery(incoming('evt_1', { ...again, body }))).toMatchObject({ verdict: 'duplicate' })
    const other = eventBody('evt_1', 'file.created', { owner: 'somebody else' })
    expect(await store.saveDelivery(incoming('evt_1', { body: other, workflows: [] }))).toMatchObject({
      verdict: 'conflict',
    })
  })

  test('a number that is erased leaves an event that can be read, and other numbers as they were', async () => {
    const { store } = await openStore()
    const data = '{"customer":48213,"all":[7,48213.5],"note":"of 48213","size":12345678901234567890}'
    const body = eventBody('evt_1', 'file.created', {}).replace('"data":{}', `"data":${data}`)
    await store.saveDelivery(incoming('evt_1', { body, workflows: [] }))
    expect(await eraseAll(store, { kind: 'text', text: '48213' })).toBe(1)
    const [event] = await store.listEvents({ limit: 1 })
    expect(event?.body).toContain(
      '{"customer":"[erased]","all":[7,"[erased]"],"note":"of [erased]","size":12345678901234567890}',
    )
  })

  test('text that somebody else takes out of the ledger is a fault, with a mark of his own, too', async () => {
    const { store, tamper } = await openStore()
    await deleteFiles(store, ['Anna Meier.pdf'])
    await store.sealEffects({ now: NOW, limit: 100 })
    await tamper(`UPDATE effect SET path = '[erased]', erased = '{"by":2,"was":"00"}' WHERE seq = 1`)
    const { passed, faults } = await verifyLedger(store)
    expect(passed).toBe(false)
    expect(faults).toContain('row 1 lost text, and no row tells who erased it')
  })

  test('text of an erased row that is changed later is a fault', async () => {
    const { store, tamper } = await openStore()
    await deleteFiles(store, ['Anna Meier.pdf'])
    await eraseAll(store, ANNA)
    expect(await verifyLedger(store)).toMatchObject({ passed: true })
    await tamper(`UPDATE effect SET path = '/[erased]/more' WHERE seq = 1`)
    expect(await verifyLedger(store)).toMatchObject({ passed: false })
  })
})
