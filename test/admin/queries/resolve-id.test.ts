import { expect } from 'vitest'
import { resolveAmong } from '../../../src/admin/queries/resolve-id.ts'
import { planEndpoint } from '../../../src/core/incoming/endpoint.ts'
import { askDelete, holdDeletes } from '../../cli/commands/safety/support/hold-deletes.ts'
import { openTestProject, test } from '../../cli/support/test-project.ts'
import { beginDelete } from '../../contract/support/begin-delete.ts'
import { checkpoint, queueRun } from '../../support/fixtures.ts'

/** The prefix of an id, its digits of time and of its counter: enough to be unique here. */
const shortOf = (id: string) => id.slice(0, 17)

test('a short list gives the row whose id is, or alone begins with, a text', () => {
  const rows = ['key_1kt1gw6g3001', 'key_1kt1gw6g3002', 'key_1kt1gw6g30021'].map((id) => ({ id }))
  expect(resolveAmong('key_1kt1gw6g3001', rows)).toBe(rows[0])
  expect(resolveAmong('key_1kt1gw6g3001…', rows)).toBe(rows[0])
  // A whole id counts, although another one begins with it.
  expect(resolveAmong('key_1kt1gw6g3002', rows)).toBe(rows[1])
  expect(resolveAmong('key_zzzz', rows)).toBeNull()
  expect(resolveAmong('key_1kt', rows)).toBeNull()
  expect(() => resolveAmong('key_1kt1g', rows)).toThrow('Several ids begin with key_1kt1g.')
})

test('every command that takes the id of a run takes its beginning', async ({ cli, store }) => {
  const run = await queueRun(store, 'evt_1', 'follow-up', Date.now())
  await queueRun(store, 'evt_2', 'follow-up', Date.now())
  const short = shortOf(run)
  expect((await cli('runs', 'show', short)).json.data).toMatchObject({ id: run })
  expect((await cli('runs', 'cancel', `${short}…`, '--yes')).json.data).toMatchObject({ runs: [{ run, done: true }] })
  expect((await cli('audit', 'list', '--target', short)).json.data).toMatchObject([{ target: run }])
  expect((await cli('runs', 'retry', short)).json.data).toMatchObject({ runs: [{ run, done: true }] })
  expect((await cli('runs', 'resume', short)).json.error.message).toContain(`Cannot resume run ${run}`)
  expect((await cli('runs', 'fork', short, '--from-step', 'none')).json.error.message).not.toContain('no run')
  expect(await cli('runs', 'show', run.slice(0, 8))).toMatchObject({
    exit: 2,
    json: { error: { code: 'invalid_request', fix: expect.stringMatching(/^Give more of it: run_.*, run_/) } },
  })
  expect((await cli('runs', 'show', 'run_zzzzzzzz')).json).toMatchObject({ error: { code: 'not_found' } })
})

test('runs and effects are listed by the beginning of an id, and by an id whose row is gone', async () => {
  const { cli, store } = await openTestProject()
  const { lease } = await holdDeletes(store, ['a'])
  const { json } = await cli('runs', 'list', '--event', 'evt_hel')
  expect(json.data).toEqual([])
  expect((await cli('runs', 'list', '--event', 'evt_held')).json.data).toMatchObject([{ id: lease.runId }])
  await queueRun(store, 'delivery-2026-1', 'follow-up', Date.now())
  expect((await cli('runs', 'list', '--event', 'delivery-2026')).json.data).toMatchObject([
    { eventId: 'delivery-2026-1' },
  ])
  expect((await cli('runs', 'list', '--event', 'no-such-event')).json.data).toEqual([])
  await beginDelete(store, lease, checkpoint('b', { effect: 'delete', target: 'storage_a:b' }), { now: Date.now() })
  const short = await cli('effects', 'list', '--run', shortOf(lease.runId))
  expect(short.json.data).toMatchObject([{ runId: lease.runId }])
  expect((await cli('effects', 'list', '--run', 'run_pruned_long_ago')).json.data).toEqual([])
})

test('an approval is shown, decided and denied by the beginning of its id', async ({ cli, store }) => {
  const { id, lease } = await holdDeletes(store, ['a'])
  const short = shortOf(id)
  const shown = (await cli('approvals', 'show', short)).json.data
  expect(shown).toMatchObject({ id, list: [{ number: 1 }] })
  const approved = await cli('approvals', 'approve', short, '--hash', shown.hash, '--reason', 'checked')
  expect(approved.json.data).toMatchObject({ approval: id, status: 'approved' })
  expect((await askDelete(store, lease, 'a')).kind).toBe('granted')
  const denied = await cli('approvals', 'deny', short)
  expect(denied.json.error).toMatchObject({ code: 'conflict', message: expect.stringContaining(id) })
})

test('tokens and endpoints are named by the beginnings of their ids', async ({ cli, store }) => {
  const { id } = (await cli('tokens', 'add', 'ci')).json.data
  const endpoint = planEndpoint({ name: 'shop' }, Date.now())
  await store.addEndpoint(endpoint)
  expect((await cli('tokens', 'revoke', shortOf(id), '--yes')).json.data).toMatchObject({ id, revoked: true })
  expect((await cli('tokens', 'revoke', shortOf(id), '--yes')).json.error.code).toBe('not_found')
  // Nobody is asked about a token that is not there.
  expect((await cli('tokens', 'revoke', '')).json.error).toMatchObject({ code: 'not_found' })
  for (const named of ['shop', endpoint.id, shortOf(endpoint.id)])
    expect((await cli('endpoints', 'show', named)).json.data).toMatchObject({ name: 'shop' })
  expect(await cli('deliveries', 'list', '--endpoint', endpoint.id)).toMatchObject({ exit: 0 })
})
