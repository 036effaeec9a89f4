import { expect, test } from 'vitest'
import { askDelete, holdDeletes } from '../../cli/commands/safety/support/hold-deletes.ts'
import { beginDelete } from '../../contract/support/begin-delete.ts'
import { checkpoint } from '../../support/fixtures.ts'
import { startConsole } from '../support/start-console.ts'

/** An admin server with a run that asks for three deletes, which are held. */
async function startHeld() {
  const console = await startConsole()
  const { store, clock, ask } = console
  const { lease, id } = await holdDeletes(store, ['a', 'b', 'c'], clock.now())
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { ...console, id, post, lease }
}

test('a list is read page by page, and each page says where the next one begins', async () => {
  const { get, id } = await startHeld()
  const first = await get(`/approvals/${id}/items?limit=2`)
  const second = await get(`/approvals/${id}/items?limit=2&after=${first.next}`)
  expect([...first.items, ...second.items].map(({ number }) => number)).toEqual([1, 2, 3])
  expect(second.next).toBeNull()
})

test('a hash that the list does not have is refused, and so is an answer where none is asked for', async () => {
  const { post, id } = await startHeld()
  const stale = await post(`/approvals/${id}/approve`, { hash: 'ffffffffffff' })
  expect(stale).toMatchObject({ status: 409, body: { code: 'list_changed' } })
  const answered = await post(`/approvals/${id}/approve`, { hash: 'ffffffffffff', answer: { keep: 1 } })
  expect(answered).toMatchObject({ status: 400, body: { detail: 'This approval asks for no answer.' } })
})

test('nobody decides under the name of another, so that one person is never counted as two', async () => {
  const { get, post, id } = await startHeld()
  const { hash } = await get(`/approvals/${id}`)
  for (const verdict of ['approve', 'deny']) {
    const { status, body } = await post(`/approvals/${id}/${verdict}`, { hash, as: 'ada' })
    expect({ status, ...body }).toMatchObject({ status: 409, detail: expect.stringContaining('"ada"') })
  }
  expect(await get(`/approvals/${id}`)).toMatchObject({ status: 'open', votes: [] })
})

test('a reason that no database keeps as it was signed is refused, since its signature would not fit', async () => {
  const { get, post, id } = await startHeld()
  const { hash } = await get(`/approvals/${id}`)
  for (const [reason, fault] of [
    ['half of a face: \ud83d', 'half of a character'],
    ['a\0b', 'the character 0'],
  ])
    for (const path of [`/approvals/${id}/approve`, `/approvals/${id}/deny`, '/effects/stop']) {
      const { status, body } = await post(path, {
        ...(path.includes('stop') ? { kind: 'all', name: '' } : { hash }),
        reason,
      })
      expect({ path, status, errors: JSON.stringify(body.errors) }).toEqual({
        path,
        status: 400,
        errors: expect.stringContaining(`${fault}`),
      })
    }
  expect(await get(`/approvals/${id}`)).toMatchObject({ status: 'open', votes: [] })
})

test('a viewer sees that deletes are held, and neither their paths nor a button', async () => {
  const { get, id, makeToken, post } = await startHeld()
  const token = await makeToken('viewer')
  expect((await get(`/approvals/${id}/items`, token)).items[0]).toMatchObject({ path: null, target: 'storage_a:a' })
  const denied = await post(`/approvals/${id}/deny`, { hash: 'ffffffff' }, { authorization: `Bearer ${token}` })
  expect(denied.status).toBe(403)
})

test('a stop over the API holds deletes, its reason is kept, and resuming ends it', async () => {
  const { get, post, store } = await startHeld()
  const stopped = await post('/effects/stop', { kind: 'all', name: '', reason: 'audit' })
  expect(stopped.body.stops).toMatchObject([{ kind: 'all', reason: 'audit' }])
  expect((await post('/effects/stop', { kind: 'workflow', name: '', reason: 'x' })).status).toBe(400)
  expect((await post('/effects/resume', { kind: 'all', name: '' })).body.stops).toEqual([])
  expect((await post('/effects/resume', { kind: 'all', name: '' })).status).toBe(404)
  const actions = await store.listActions({ limit: 10, action: 'effects.*' })
  expect(actions.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    'effects.resume unchanged',
    'effects.resume done',
    'effects.stop done',
  ])
  expect((await get('/effects')).items[0]).toMatchObject({ phase: 'switched', operation: 'resume' })
})

test('the ledger is found by file, without paths for a viewer, and exported as lines of JSON', async () => {
  const { get, post, id, ask, makeToken, store, lease, clock } = await startHeld()
  const { hash } = await get(`/approvals/${id}`)
  await post(`/approvals/${id}/approve`, { hash })
  expect(await askDelete(store, lease, 'a', clock.now())).toMatchObject({ kind: 'granted' })
  const asked = { path: '/a', bytes: 100, modifiedAt: null }
  const callback = `http://127.0.0.1/callbacks/${'0'.repeat(26)}`
  const order = checkpoint('order', { position: 1, effect: 'delete', target: callback + '1'.repeat(32) })
  expect(await beginDelete(store, lease, order, { limits: [], now: clock.now() })).toMatchObject({ kind: 'granted' })
  const found = await get('/effects?path=/a')
  expect(found.items).toMatchObject([
    { phase: 'begun', target: 'storage_a:a', path: '/a', approval: id, asked, expect: asked },
  ])
  const viewer = await makeToken('viewer')
  expect((await get('/effects?target=storage_a:a', viewer)).items).toMatchObject([
    { path: null, asked: null, expect: null, before: null },
  ])
  const headers = { authorization: `Bearer ${viewer}` }
  expect((await ask('/effects?path=/a', { headers })).status).toBe(403)
  expect((await ask('/effects/export', { headers })).status).toBe(403)
  const lines = (await (await ask('/effects/export')).text()).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).phase)).toEqual(['decided', 'begun', 'begun'])
  expect(lines.map((line) => JSON.parse(line).target)).toContain(`${callback}…`)
})
