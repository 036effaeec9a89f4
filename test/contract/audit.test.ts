import { expect } from 'vitest'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { type AuditEntry, LASTING_TARGET } from '../../src/core/safety/audit.ts'
import { asOperator } from '../../src/core/store/as-operator.ts'
import { listSwitches } from '../../src/core/store/list-switches.ts'
import type { Store } from '../../src/core/store/store.ts'
import { NOW, queueRun } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { countPrunable } from './support/count-prunable.ts'

const ADA = { actor: 'cli:ada', role: 'owner', from: 'host-1', reason: 'the service is back' }

function openFor(store: Store, at = NOW) {
  return asOperator(store, ADA, { now: () => at })
}

function entry(action: string, part: Partial<AuditEntry> = {}): AuditEntry {
  return { ...ADA, action, target: null, parameters: {}, at: NOW, ...part }
}

describeStores((test, open) => {
  test('an action of a person leaves a row with who, when, from where, why and what', async ({ store }) => {
    const run = await queueRun(store)
    expect(await openFor(store).cancelRun(run, 'a mistake', NOW)).toBe(true)
    expect(await store.listActions({ limit: 10 })).toEqual([
      {
        ...ADA,
        id: expect.stringMatching(/^aud_/),
        at: NOW,
        action: 'run.cancel',
        target: run,
        parameters: { because: 'a mistake' },
        outcome: 'done',
        error: null,
      },
    ])
  })

  test('an action that changes nothing, and one that is refused, leave a row that says so', async ({ store }) => {
    const ada = openFor(store)
    expect(await ada.retryRun('run_none', NOW)).toBe(false)
    await expect(ada.forkRun('run_none', { keys: [], edited: null }, NOW)).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.listActions({ limit: 10 })).toMatchObject([
      { action: 'run.fork', outcome: 'refused', error: 'There is no run run_none any more.' },
      { action: 'run.retry', outcome: 'unchanged', error: null },
    ])
  })

  test('a write whose audit row cannot be written changes nothing', async ({ store }) => {
    const run = await queueRun(store)
    const broken = asOperator(store, { ...ADA, actor: null as never }, { now: () => NOW })
    await expect(broken.cancelRun(run, 'by hand', NOW)).rejects.toThrow()
    expect(await store.findRun(run)).toMatchObject({ status: 'pending' })
    expect(await store.listActions({ limit: 10 })).toEqual([])
  })

  test('the audit row of an endpoint or account holds no secret', async ({ store }) => {
    const endpoint = planEndpoint({ name: 'main', secret: 'a-secret-that-nobody-may-ever-see' }, NOW)
    await openFor(store).addEndpoint(endpoint)
    const keys = { apiKey: 'sk_live_secret', fallbackKey: 'sk_live_other' }
    const storages = { storage_a: 'a', storage_b: 'b', storage_c: 'c' }
    const account = {
      name: 'shop',
      baseUrl: 'https://api.example.com/v1',
      plan: 'free' as const,
      storages,
      createdAt: NOW,
    }
    await openFor(store).saveAccount({ ...account, ...keys })
    const rows = await store.listActions({ limit: 10 })
    expect(rows).toMatchObject([
      { action: 'account.save', target: 'shop' },
      { action: 'endpoint.add', target: 'main', parameters: { secrets: 1 } },
    ])
    expect(JSON.stringify(rows)).not.toMatch(/secret-that|sk_live/)
    expect(JSON.stringify(rows)).not.toContain(endpoint.path)
  })

  test('the audit log is listed newest first, by action, family, target, person and time', async () => {
    const { store, reopen } = await open()
    const ids: string[] = []
    const entries = [
      entry('run.retry', { target: 'run_1' }),
      entry('run.cancel', { target: 'run_2', at: NOW + 1_000, actor: 'cli:ben' }),
      entry('workflow.pause', { target: 'tidy', at: NOW + 2_000 }),
    ]
    for (const each of entries) ids.push(await store.recordAction(each, 'begun'))
    const list = async (filter: object) =>
      (await (await reopen()).listActions({ limit: 10, ...filter })).map(({ id }) => id)
    const [retry, cancel, pause] = ids
    expect(await list({})).toEqual([pause, cancel, retry])
    expect(await list({ action: 'run.*' })).toEqual([cancel, retry])
    expect(await list({ action: 'run.retry' })).toEqual([retry])
    expect(await list({ target: 'tidy' })).toEqual([pause])
    expect(await list({ actor: 'cli:ben' })).toEqual([cancel])
    expect(await list({ since: NOW + 1_000, until: NOW + 2_000 })).toEqual([cancel])
    expect(await list({ before: cancel })).toEqual([retry])
  })

  test('rows of the audit log go by their age, in slices', async ({ store }) => {
    for (const age of [3, 2, 1, 0]) await store.recordAction(entry('run.retry', { at: NOW - age * 1_000 }), 'done')
    const slice = { kind: 'audit', before: NOW - 500, limit: 2, after: null } as const
    expect(await store.prune(slice)).toEqual({ pruned: 2, next: '' })
    expect(await store.prune(slice)).toEqual({ pruned: 1, next: null })
    expect(await store.listActions({ limit: 10 })).toMatchObject([{ at: NOW }])
  })

  test('the rows that say since when effects are planned stay, whatever their age', async ({ store }) => {
    const lasting = { target: LASTING_TARGET, parameters: { before: 'live', to: 'plan' } }
    await store.recordAction(entry('effects.switch', { at: NOW - 9_000, ...lasting }), 'done')
    await store.recordAction(entry('run.retry', { at: NOW - 8_000, target: null }), 'done')
    await store.recordAction(entry('run.retry', { at: NOW - 7_000 }), 'done')
    expect(await countPrunable(store, 'audit', { before: NOW })).toMatchObject({ rows: 2 })
    expect(await store.prune({ kind: 'audit', before: NOW, limit: 9, after: null })).toEqual({ pruned: 2, next: null })
    expect(await listSwitches(store)).toEqual([{ at: NOW - 9_000, to: 'plan', from: entry('').from }])
  })
})
