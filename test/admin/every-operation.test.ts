import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AdminClient } from '../../src/admin/client/index.ts'
import type { RouteSpec } from '../../src/admin/contract/route.ts'
import { ROUTES, type RouteName } from '../../src/admin/contract/routes.ts'
import { cron } from '../../src/author/cron.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { callable } from '../../src/author/trigger.ts'
import { TerminalError } from '../../src/core/errors.ts'
import { openAdmin } from '../support/admin-client.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'
import { define } from '../support/workflows.ts'
import { startHook } from '../watch/alerts/support/hook-server.ts'
import { RULE } from '../watch/alerts/support/open-alerts.ts'

const workflows = [
  define('on-invoice', { on: 'invoice.paid' }, async ({ step }) => {
    await step.run('book', () => ({ booked: true }), { effect: 'write' })
    throw new TerminalError('the ledger is closed')
  }),
  defineWorkflow({ id: 'report', on: callable(z.object({ month: z.string() })), run: async ({ input }) => input }),
  defineWorkflow({ id: 'nightly', on: cron('0 3 * * *', { timezone: 'UTC' }), run: async () => 'slept' }),
  define('scanning', { on: 'scan.begun' }, async ({ step }) => {
    const hook = await step.hook('scan', { data: z.object({ isClean: z.boolean() }), expires: '1h' })
    return (await step.waitFor('scanned', hook))?.data
  }),
  defineWorkflow({ id: 'sleeper', on: 'nap.begun', run: ({ step }) => step.sleep('nap', '1h') }),
]

test('every operation of the table answers, in the form that the table says, from a running app', async () => {
  const hook = await startHook()
  const alerts = { rules: [RULE], channels: { ops: { kind: 'slack', url: hook.url } } } as const
  const { app, urls, dataDir, sandbox, hear } = await startTestApp(
    { workflows },
    { config: { alerts, workflowsDir: tempFolder() } },
  )
  const client = openAdmin(dataDir, urls.admin)
  const called = new Set<RouteName>()
  const done = new Set<RouteName>()
  const call = (async (name: RouteName, input?: never) => {
    called.add(name)
    const answer = await client.call(name, ...([input] as unknown as [never]))
    done.add(name)
    const { answer: schema } = ROUTES[name] as RouteSpec
    return schema === null ? answer : schema.parse(answer)
  }) as unknown as AdminClient['call']
  const reason = 'a test'

  const sent = await call('POST /events', { body: { type: 'invoice.paid', data: { no: 7 } } })
  const { run: id } = await hear('run.failed')
  const params = { id }
  expect(sent.runs).toEqual([id])
  expect((await call('GET /runs', { query: { status: 'failed' } })).items.map((run) => run.id)).toEqual([id])
  expect((await call('GET /runs/:id', { params })).error?.message).toBe('the ledger is closed')
  expect((await call('GET /runs/:id/steps', { params })).items).toMatchObject([{ key: 'book', effect: 'write' }])
  const step = { params: { id, key: 'book' } }
  expect((await call('GET /runs/:id/steps/:key/output', step)).value).toEqual({ booked: true })
  expect(await call('GET /runs/:id/details', { params })).toMatchObject({ id, status: 'failed' })
  expect(await call('GET /runs/:id/usual', { params })).toEqual({ runs: 0, run: null, steps: [] })
  await call('GET /runs/:id/related', { params })
  expect(await call('GET /runs/:id/source', { params, query: {} })).toEqual({ items: [] })
  const [group] = (await call('GET /failures')).items
  expect(group).toMatchObject({ workflow: 'on-invoice', runs: 1, state: 'open' })
  const kind = { params: { id: group?.id ?? '' } }
  await call('POST /failures/:id/resolve', { ...kind, body: { note: 'it is open again' } })
  expect((await call('GET /failures')).items[0]).toMatchObject({ state: 'resolved', note: 'it is open again' })
  await call('POST /failures/:id/snooze', { ...kind, body: { for: '1h' } })
  const resolved = await call('POST /runs/:id/resolve', { params, body: { reason: 'booked by hand' } })
  expect(resolved).toMatchObject({ status: 'failed', resolution: { reason: 'booked by hand', by: expect.any(String) } })
  expect((await call('GET /failures')).items[0]).toMatchObject({ runs: 1, resolved: 1, state: 'resolved' })
  expect((await call('POST /runs/:id/unresolve', { params, body: { reason } })).resolution).toBeNull()
  await call('POST /runs/:id/retry', { params, body: { reason } })
  await call('POST /runs/:id/fork', { params, body: { fromStep: 'book', output: { booked: false } } })

  const { findings } = await call('POST /doctor', { body: { reason } })
  expect(findings).toContainEqual({ check: 'app', level: 'ok', found: expect.stringMatching(/^ready/), fix: null })
  const asked = await call('POST /events/match', { body: { type: 'invoice.paid', data: { no: 8 } } })
  expect(asked.broken).toEqual([])
  await call('GET /events')
  expect((await call('GET /events/drifts', { query: {} })).items).toEqual([])
  const lines = Buffer.concat(
    await Array.fromAsync(client.stream('GET /events/export', { query: { type: 'invoice.paid' } })),
  )
  expect(JSON.parse(lines.toString())).toMatchObject({ type: 'invoice.paid', data: { no: 7 } })
  called.add('GET /events/export')
  expect((await call('GET /events/:id', { params: { id: sent.event } })).data).toEqual({ no: 7 })
  expect(await call('GET /events/:id/data', { params: { id: sent.event } })).toEqual({ text: '{"no":7}', next: null })
  expect(await call('GET /events/:id/redacted', { params: { id: sent.event } })).toMatchObject({ type: 'invoice.paid' })
  const replayed = await call('POST /events/:id/replay', { params: { id: sent.event }, body: {} })
  expect(replayed.runs).toHaveLength(1)
  const trace = await call('GET /events/:id/trace', { params: { id: sent.event }, query: { steps: 'true' } })
  expect(trace.nodes.map(({ cause }) => cause)).toEqual([null, 'started', 'forked', 'replayed'])
  const { items } = await call('GET /deliveries', { query: { verdict: 'accepted', limit: 1 } })
  const delivery = { params: { id: items[0]?.id ?? '' } }
  await call('GET /deliveries/:id', delivery)
  await call('GET /deliveries/tallies')

  const nap = await call('POST /events', { body: { type: 'nap.begun', data: {} } })
  const sleeping = { params: { id: nap.runs[0] ?? '' } }
  expect((await call('POST /runs/:id/cancel', { ...sleeping, body: { reason } })).status).toBe('canceled')
  await expect(call('POST /runs/:id/resume', { ...sleeping, body: {} })).rejects.toMatchObject({ code: 'conflict' })

  const ordered = await call('POST /events', { body: { type: 'scan.begun', data: {} } })
  const scan = ordered.runs[0] ?? ''
  await expect.poll(async () => (await call('GET /hooks', { query: { run: scan } })).items).toHaveLength(1)
  const [open] = (await call('GET /hooks', { query: { run: scan } })).items
  expect(open).toMatchObject({ step: 'scan', state: 'open', answers: 0 })
  const word = { params: { id: open?.id ?? '' }, body: { data: { isClean: true }, reason } }
  expect((await call('POST /hooks/:id/answer', word)).state).toBe('answered')
  await expect.poll(async () => (await call('GET /runs/:id', { params: { id: scan } })).status).toBe('completed')

  await call('GET /workflows')
  await call('GET /workflows/:id', { params: { id: 'report' } })
  expect(await call('GET /workflows/:id/graph', { params: { id: 'report' } })).toMatchObject({ edges: [] })
  const paused = await call('POST /workflows/:id/pause', { params: { id: 'report' }, body: {} })
  expect(paused.pausedAt).not.toBeNull()
  await call('POST /workflows/:id/resume', { params: { id: 'report' }, body: {} })
  const kept = call('DELETE /workflows/:id', { params: { id: 'report' }, query: { reason } })
  await expect(kept).rejects.toMatchObject({ code: 'conflict' })
  const report = { params: { id: 'report' }, body: { input: { month: '2026-11' } } }
  const started = await call('POST /workflows/:id/start', report)
  await hear('run.completed', ({ run }) => run === started.id)
  const output = await call('GET /runs/:id/output', { params: { id: started.id } })
  expect(output.value).toEqual({ month: '2026-11' })
  const nightly = { params: { name: 'nightly' } }
  await call('GET /schedules')
  await call('GET /schedules/:name', nightly)
  await call('POST /schedules/:name/pause', { ...nightly, body: {} })
  await call('POST /schedules/:name/resume', { ...nightly, body: {} })
  expect((await call('POST /schedules/:name/run', { ...nightly, body: {} })).items).toMatchObject([
    { origin: 'manual' },
  ])
  const monthly = { name: 'monthly', workflow: 'report', cron: '0 6 1 * *', input: { month: '2026-11' } }
  expect((await call('POST /schedules', { body: monthly })).next).toHaveLength(5)
  const misfit = { body: { ...monthly, name: 'misfit', input: { month: 11 } } }
  await expect(call('POST /schedules', misfit)).rejects.toThrow(/input\.month/)
  const added = { params: { name: 'monthly' } }
  expect((await call('PATCH /schedules/:name', { ...added, body: { overlap: 'skip' } })).overlap).toBe('skip')
  const stretch = { from: '2026-09-15T00:00:00Z', to: '2026-11-15T00:00:00Z' }
  expect((await call('GET /schedules/:name/backfill', { ...added, query: stretch })).moments).toBe(2)
  const backfill = await call('POST /schedules/:name/backfill', { ...added, body: stretch })
  await call('DELETE /schedules/:name', { params: { name: backfill.name }, query: { reason } })
  await call('DELETE /schedules/:name', { ...added, query: { reason } })
  const moment = {
    name: 'at-new-year',
    workflow: 'report',
    at: '2030-01-01T00:00:00.000Z',
    input: { month: '2029-12' },
  }
  await call('POST /schedules', { body: moment })
  const later = { params: { name: moment.name }, body: { input: { month: '2030-01' } } }
  expect((await call('PATCH /schedules/:name', later)).next).toEqual([moment.at])
  await call('DELETE /schedules/:name', { params: later.params, query: { reason } })

  const made = await call('POST /endpoints', { body: { name: 'other', learn: true } })
  expect(made.secret).not.toBeNull()
  const other = { params: { name: 'other' } }
  await call('GET /endpoints')
  await call('GET /endpoints/:name', other)
  await call('GET /endpoints/:name/captures', other)
  await expect(call('POST /endpoints/:name/solve', { ...other, body: {} })).rejects.toMatchObject({ code: 'not_found' })
  await call('POST /endpoints/:name/pin', { ...other, body: { scheme: {} } })
  expect((await call('POST /endpoints/:name/test', { ...other, body: {} })).isPassed).toBe(true)
  await call('POST /endpoints/:name/rotate', { ...other, body: {} })
  const retired = await call('POST /endpoints/:name/retire', { ...other, body: {} })
  expect(retired.secrets.filter(({ until }) => until === null)).toHaveLength(1)
  await call('PATCH /endpoints/:name', { ...other, body: { status: 'disabled' } })
  await call('DELETE /endpoints/:name', other)

  const { id: fileId } = await sandbox.storage('storage_a').put('/in/a.txt', 'four')
  const folder = { params: { storage: 'storage_a' }, query: { path: '/in' } }
  expect((await call('GET /files/:storage', folder)).items).toMatchObject([{ name: 'a.txt', size: 4 }])
  const file = { params: { storage: 'storage_a', id: fileId } }
  const { path, size, modifiedAt } = await call('GET /files/:storage/:id', file)
  await call('POST /files/:storage/:id/ticket', { ...file, body: {} })
  called.add('GET /downloads/:ticket')
  const found = await call('GET /files/:storage/find', { ...folder, query: { path: '/in/a.txt' } })
  expect(found).toMatchObject({ id: fileId, size: 4 })
  const all = await call('GET /files/:storage/snapshot', { ...folder, query: { path: '/in', recursive: 'true' } })
  expect(all).toMatchObject({ items: [{ path: '/in/a.txt' }], reason: null })
  expect((await call('POST /files/:storage/:id/url', { ...file, body: {} })).url).toMatch(/^http/)
  const sides = { one: { storage: 'storage_a', path: '/in' }, other: { storage: 'storage_b', path: '/in' } }
  const compared = call('POST /files/diff', { body: sides })
  await expect(compared).rejects.toMatchObject({ code: 'not_found' })
  const seen = { service: 'storage_a', id: fileId, path, size, modifiedAt } as const
  expect((await call('POST /files/delete', { body: { files: [seen] } })).counts).toEqual({ deleted: 1 })

  const storages = { storage_a: 'a', storage_b: 'b', storage_c: 'c' }
  const account = { baseUrl: 'https://api.example.com/v1', storages, apiKey: 'sk_live_of_a_test' }
  const saved = await call('PUT /accounts/:name', { params: { name: 'shop' }, body: account })
  expect(JSON.stringify(saved)).not.toContain('sk_live')
  await call('GET /accounts')
  expect((await call('GET /accounts/:name', { params: { name: 'shop' } })).plan).toBeDefined()
  await call('DELETE /accounts/:name', { params: { name: 'shop' } })
  const issued = await call('POST /tokens', { body: { name: 'ci', role: 'viewer' } })
  await call('GET /tokens')
  await call('DELETE /tokens/:id', { params: { id: issued.token.id } })
  await call('GET /sessions')
  await expect(call('DELETE /sessions/:id', { params: { id: 'ses_0' } })).rejects.toMatchObject({ code: 'not_found' })
  const login = call('POST /login', { body: { code: 'wrong' } })
  await expect(login).rejects.toMatchObject({ status: 401 })
  await call('POST /logout')

  const filter = { status: 'failed', since: '1h' } as const
  const dry = await call('POST /operations', { body: { kind: 'retry', filter, isDryRun: true } })
  const examples = { length: 3, 2: { target: id, about: 'on-invoice  failed' } }
  expect(dry).toMatchObject({ total: 3, runs: 0, foreseen: { examples, refusals: [] } })
  expect((await call('GET /operations')).items).toEqual([])
  const begun = await call('POST /operations', { body: { kind: 'unresolve', filter } })
  const ofEvents = { type: 'invoice.*', since: '1h' } as const
  const counted = await call('POST /events/replay', { body: { filter: ofEvents, isDryRun: true } })
  expect(counted).toMatchObject({ kind: 'replay', total: 1, runs: 1, workflows: ['on-invoice', 'scanning', 'sleeper'] })
  expect(counted.foreseen?.examples).toMatchObject([{ about: 'invoice.paid  on-invoice' }])
  const operation = { params: { id: begun.id } }
  const states = await Array.fromAsync(client.events('GET /operations/:id/progress', operation))
  expect(states.at(-1)).toMatchObject({ id: begun.id, status: 'done', foreseen: null })
  called.add('GET /operations/:id/progress')
  await call('GET /operations/:id', operation)
  await call('POST /operations/:id/abort', { ...operation, body: {} }).catch((error) => {
    expect(error).toMatchObject({ code: 'conflict' })
  })
  expect((await call('GET /audit', { query: { action: 'endpoint.*' } })).items.length).toBeGreaterThan(5)
  await call('GET /approvals', { query: { status: 'open' } })
  const none = { params: { id: 'apr_0' } }
  const missing = { code: 'not_found' }
  await expect(call('GET /approvals/:id', none)).rejects.toMatchObject(missing)
  await expect(call('GET /approvals/:id/items', none)).rejects.toMatchObject(missing)
  const vote = { ...none, body: { hash: '00000000' } }
  await expect(call('POST /approvals/:id/approve', vote)).rejects.toMatchObject(missing)
  await expect(call('POST /approvals/:id/deny', vote)).rejects.toMatchObject(missing)
  await expect(call('POST /approvals/:id/look-ahead', { ...none, body: {} })).rejects.toMatchObject(missing)
  const effect = { class: 'delete', run: 'run_0', step: 'a', target: null, path: '/a', bytes: 1 } as const
  const following = client.events('POST /approvals/:id/approve-ahead', { ...none, body: { effects: [effect] } })
  await expect(Array.fromAsync(following)).rejects.toMatchObject(missing)
  called.add('POST /approvals/:id/approve-ahead')
  const everything = { kind: 'all', name: '', reason } as const
  expect((await call('POST /effects/stop', { body: everything })).stops).toHaveLength(1)
  expect((await call('POST /effects/resume', { body: everything })).stops).toEqual([])
  expect(await call('POST /effects/anchor', { body: {} })).toMatchObject({ mac: expect.stringMatching(/^\w{64}$/) })
  expect((await call('POST /effects/restored', { body: { reason } })).seal).toBeGreaterThan(1)
  expect(await call('POST /effects/verify', { body: {} })).toMatchObject({ passed: true, faults: [] })
  expect((await call('POST /database/verify', { body: {} })).passed).toBe(true)
  const { backup, bytes } = await call('POST /database/backup', { body: {} })
  const fetched = await Array.fromAsync(client.stream('GET /database/backups/:name', { params: { name: backup } }))
  expect(Buffer.concat(fetched).byteLength).toBe(bytes)
  called.add('GET /database/backups/:name')
  const covered = await call('POST /coverage', { body: { transfers: ['trf_none'] } })
  expect(covered).toMatchObject({ storages: [], transfers: { listed: 1, unreported: ['trf_none'] } })
  await call('GET /guard')
  const switched = (await call('GET /effects')).items.find(({ phase }) => phase === 'switched')
  expect(switched).toMatchObject({ phase: 'switched' })
  expect(await call('GET /effects/:seq', { params: { seq: String(switched?.seq) } })).toMatchObject({
    phase: 'switched',
  })
  expect((await call('GET /effects/of-file', { query: { file: '/in/a.txt' } })).items.length).toBeGreaterThan(0)
  const { publicKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  await call('POST /approvers', { body: { name: 'ada', publicKey, reason } })
  expect((await call('GET /approvers')).items).toMatchObject([{ name: 'ada' }])
  await call('DELETE /approvers/:name', { params: { name: 'ada' }, query: { reason } })
  called.add('GET /effects/export')

  expect((await call('GET /alerts')).items).toMatchObject([{ name: 'failures', channels: [{ name: 'ops' }] }])
  const alert = { params: { name: 'failures' } }
  expect((await call('GET /alerts/:name', alert)).when).toBe('run.failed')
  const told = await call('POST /alerts/:name/test', { ...alert, body: { reason } })
  expect(told.channels).toEqual([{ channel: 'ops', error: null }])

  const history = await call('GET /subjects/:subject', { params: { subject: 'fil_nowhere' } })
  expect(history.items).toEqual([])
  expect((await call('GET /guard/suggestions')).items).toEqual([])
  await call('GET /overview')
  expect((await call('GET /retention')).items).toHaveLength(8)
  expect((await call('GET /retention/prunable')).items).toEqual([])
  const words = { kind: 'text', text: 'nobody at all', reason } as const
  expect(await call('POST /privacy/find', { body: words })).toMatchObject({ rows: 0, neededBy: [] })
  expect(await call('POST /privacy/erase', { body: words })).toMatchObject({ erased: 0, canceled: [] })
  expect((await call('POST /retention/prune', { body: { reason } })).pruned).toMatchObject({ runs: 0, audit: 0 })
  expect((await call('GET /config')).items).toContainEqual({ setting: 'role', value: 'all' })
  expect((await call('GET /system')).processes).toHaveLength(1)
  expect(await call('GET /login')).toEqual({ provider: null })
  await call('GET /session')
  await call('GET /openapi.json')
  called.add('GET /live')
  expect(Object.keys(ROUTES).filter((name) => !called.has(name as RouteName))).toEqual([])
  const actions = new Set((await app.store.listActions({ limit: 1_000 })).map(({ action }) => action))
  // A call that is refused before it writes is none of these.
  const unaudited = [...done].filter((name) => {
    const { audit } = ROUTES[name] as RouteSpec
    return !name.startsWith('GET ') && (audit === undefined || !actions.has(audit))
  })
  expect(unaudited).toEqual([])
})
