import { expect } from 'vitest'
import { planMatch } from '../../src/core/runs/matching.ts'
import { DIVERGED, stepKeys } from '../../src/core/runs/step.ts'
import { checkpoint, incoming, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete } from './support/begin-delete.ts'
import { claimLease, WAIT } from './support/waiting-runs.ts'

describeStores((test, open) => {
  test('steps are listed as they were saved, in the order in which they began', async ({ store }) => {
    const lease = await claimLease(store)
    const second = checkpoint('b', { position: 1, effect: 'delete', target: 'storage_a:fil_1' })
    const first = checkpoint('z', { position: 0, output: '{"n":1}' })
    await store.saveCheckpoint(lease, second)
    await store.saveCheckpoint(lease, first)
    expect(await store.listSteps(lease.runId)).toEqual([first, second])
  })

  test('a step of any key, and its wait for values of any length, fit their indexes', async ({ store }) => {
    // Of many characters, since PostgreSQL compresses those that repeat.
    const text = (length: number) => {
      const signs = Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7919) % 20_000)))
      return signs.join('')
    }
    const lease = await claimLease(store)
    const where = { a: text(200), b: text(199), c: text(198), d: text(197), e: text(196), f: text(300) }
    const { name, value } = planMatch(where)
    const wait = { ...WAIT, type: 'file.created', name, value, since: 'run' } as const
    for (const [position, length] of [500, 4_000].entries()) {
      const key = stepKeys()([text(200), text(length)])
      const step = checkpoint(key, { kind: 'wait', status: 'waiting', output: null, finishedAt: null, position })
      await store.saveCheckpoint(lease, step, undefined, { wait })
    }
    const { cursors, newest } = await store.listMatchCursors()
    const [cursor] = cursors
    if (!cursor) throw new Error('the wait has opened a cursor')
    const { id, stream } = cursor
    const seq = (newest.get(stream) ?? 0) + 8
    const keys = [{ cursor: id, seq, account: 'default', value, event: 'evt_2' }]
    const batch = { stream, cursors: [{ id, type: wait.type, name }], from: cursor.position, to: seq, keys }
    await store.saveMatches(batch, NOW)
    expect(await store.listEndedWaits(lease.runId)).toHaveLength(2)
  })

  test('an outcome keeps its number, until a person accepts other code', async ({ store }) => {
    const lease = await claimLease(store)
    const steps = [
      checkpoint('in line'),
      checkpoint('numbered', { position: 1, settled: 2 }),
      checkpoint('open', { position: 2, status: 'waiting', output: null, finishedAt: null }),
    ] as const
    for (const step of steps) await store.saveCheckpoint(lease, step)
    expect(await store.listSteps(lease.runId)).toEqual(steps)
    await store.parkRun(lease, { dueAt: null, reason: 'broken' })
    expect(await store.resumeRun(lease.runId, { fromScratch: false })).toBe(true)
    expect(await store.listSteps(lease.runId)).toEqual(steps)
    const again = await claimLease(store)
    await store.parkRun(again, { dueAt: null, reason: `${DIVERGED}other code` })
    expect(await store.resumeRun(lease.runId, { fromScratch: false })).toBe(true)
    const [inLine, numbered, unfinished] = steps
    expect(await store.listSteps(lease.runId)).toEqual([
      { ...inLine, settled: 0 },
      { ...numbered, settled: 0 },
      unfinished,
    ])
  })

  test('a step keeps one row for its last attempt, and one per failure', async ({ store }) => {
    const lease = await claimLease(store)
    const error = { name: 'Error', message: 'not yet' }
    const waiting = checkpoint('a', { status: 'waiting', output: null, error, dueAt: NOW + 10, finishedAt: null })
    await store.saveCheckpoint(lease, waiting, { key: 'a', attempt: 1, at: NOW, error })
    await store.saveCheckpoint(lease, checkpoint('a', { attempt: 2 }))
    expect(await store.listSteps(lease.runId)).toEqual([checkpoint('a', { attempt: 2 })])
    expect(await store.listStepFailures(lease.runId)).toEqual([{ key: 'a', attempt: 1, at: NOW, error }])
  })

  test('the deletes of a target are listed by account, without other steps and those that never began', async () => {
    const { store } = await open()
    const target = 'storage_a:fil_1'
    const gone = checkpoint('a', { effect: 'delete', target })
    for (const [eventId, account] of [
      ['evt_1', 'default'],
      ['evt_2', 'other'],
    ] as const) {
      await store.saveDelivery(incoming(eventId, { account, workflows: ['w'] }))
    }
    await store.recordTick('nightly', { scheduledFor: NOW, missed: 0 }, NOW)
    for (const { lease } of await store.claimRuns('wrk_1', 3, NOW)) {
      await beginDelete(store, lease, gone)
      await store.saveCheckpoint(lease, gone)
      await store.saveCheckpoint(lease, checkpoint('read', { effect: 'read', target, position: 1 }))
      await store.saveCheckpoint(lease, checkpoint('held', { effect: 'delete', target, position: 2 }))
    }
    expect(await store.listDeletes('other', [target])).toEqual([gone])
    expect(await store.listDeletes('default', [target, 'storage_b:fil_1'])).toEqual([gone, gone])
    expect(await store.listDeletes('default', ['storage_b:fil_1'])).toEqual([])
  })

  test('an effect with a path and a target of any length is counted, recorded and found by both', async ({ store }) => {
    const lease = await claimLease(store)
    const sign = (at: number) => (at % 100 === 0 ? '/' : String.fromCharCode(0x4e00 + ((at * 7919) % 20_000)))
    const path = Array.from({ length: 3_000 }, (_, at) => sign(at)).join('')
    const [target, other] = [`storage_a:${path}`, `storage_a:${path}x`]
    const gone = checkpoint('remove', { effect: 'delete', target })
    await beginDelete(store, lease, gone, { asked: { path, bytes: 1, modifiedAt: null } })
    await store.saveCheckpoint(lease, gone)
    await store.saveCheckpoint(lease, checkpoint('copy', { position: 1, target: other }))
    const count = async (filter: object) => (await store.listEffects({ limit: 9, ...filter })).length
    expect([await count({ path }), await count({ target }), await count({ target: other })]).toEqual([2, 2, 1])
    expect(await store.listDeletes('default', [target])).toEqual([gone])
    expect(await store.listDeletes('default', [other])).toEqual([])
  })

  test('writes take effect in the order of their calls within one commit', async ({ store }) => {
    const lease = await claimLease(store)
    await Promise.all([
      store.saveCheckpoint(lease, checkpoint('a')),
      store.saveCheckpoint(lease, checkpoint('b', { position: 1 })),
      store.completeRun(lease, 'null', NOW),
    ])
    expect(await store.listSteps(lease.runId)).toHaveLength(2)
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'completed' })
  })

  test('a large output of a step or a run is stored apart and read back unchanged', async ({ store }) => {
    const lease = await claimLease(store)
    const json = JSON.stringify({ text: 'é'.repeat(300_000) })
    const packed = await store.packOutput(json)
    expect(packed.bytes).toBe(Buffer.byteLength(json))
    expect(packed.data.length).toBeLessThan(10_000)
    const step = checkpoint('large', { output: null, apartBytes: packed.bytes })
    await store.saveCheckpoint(lease, step, undefined, { packed: packed.data })
    await store.saveCheckpoint(lease, checkpoint('small', { position: 1 }))
    await store.completeRun(lease, packed, NOW)
    expect(await store.listSteps(lease.runId)).toEqual([step, checkpoint('small', { position: 1 })])
    expect(await store.readOutput(lease.runId, 'large')).toBe(json)
    expect(await store.readOutput(lease.runId, 'small')).toBe('"done"')
    expect(await store.findRun(lease.runId)).toMatchObject({ output: null, apartBytes: packed.bytes })
    expect(await store.readOutput(lease.runId, null)).toBe(json)
    await expect(store.readOutput(lease.runId, 'none')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('the hash of the code that writes a journal is stored with the run', async ({ store }) => {
    const lease = await claimLease(store)
    await store.saveCheckpoint(lease, checkpoint('a'), undefined, { codeHash: 'as loaded' })
    await store.saveCheckpoint(lease, checkpoint('b', { position: 1 }))
    await store.parkRun(lease, { dueAt: NOW, reason: '' })
    expect(await store.claimRuns('wrk_1', 1, NOW)).toMatchObject([{ codeHash: 'as loaded' }])
  })
})
