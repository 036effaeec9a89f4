import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { AdminClient } from '../../../src/admin/client/index.ts'
import { askDelete, holdDeletes } from '../../cli/commands/safety/support/hold-deletes.ts'
import { openTestStore } from '../../support/test-store.ts'
import { makeRuns } from '../support/bulk.ts'
import { startConsole } from '../support/start-console.ts'

/** An admin server, a client with a token of its own, and the end of this token. */
async function startGuest() {
  const store = openTestStore()
  const started = await startConsole({ store })
  const token = await started.makeToken('admin')
  const revoke = async () => {
    const [{ id } = { id: '' }] = await store.listTokens()
    await store.revokeToken(id, started.clock.now())
  }
  return { ...started, store, token, client: new AdminClient({ url: started.base, token }), revoke }
}

/** Starts an operation that needs an hour. */
async function startSlowOperation({ store, clock, ask }: Awaited<ReturnType<typeof startGuest>>) {
  makeRuns(store.folder, 3_600, 'failed', clock.now() - 1_000)
  const body = JSON.stringify({ kind: 'resolve', filter: { status: 'failed' }, perSecond: 1, reason: 'a test' })
  return ((await (await ask('/operations', { method: 'POST', body })).json()) as { id: string }).id
}

test('the progress of an operation is told no longer than its token is good', async () => {
  const guest = await startGuest()
  const id = await startSlowOperation(guest)
  const told = guest.client.events('GET /operations/:id/progress', { params: { id } })[Symbol.asyncIterator]()
  expect((await told.next()).done).toBe(false)
  await guest.revoke()
  let isOver = false
  const end = (async () => {
    while (!(await told.next()).done);
    isOver = true
  })()
  await expect
    .poll(
      () => {
        guest.clock.advance(100)
        return isOver
      },
      { interval: 5 },
    )
    .toBe(true)
  await end
})

test('an agent waits for an operation no longer than its token is good', async () => {
  const guest = await startGuest()
  const agent = new Client({ name: 'a test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${guest.token}` } }
  const url = new URL(`${guest.base}/mcp?allow-writes`)
  await agent.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never)
  onTestFinished(() => agent.close())
  makeRuns(guest.store.folder, 3_600, 'failed', guest.clock.now() - 1_000)
  const given = { kind: 'resolve', filter: { status: 'failed' }, perSecond: 1, reason: 'a test' }
  const waiting = agent.callTool({ name: 'startOperation', arguments: given })
  await expect.poll(async () => (await guest.store.listBulks({ limit: 1 })).length).toBe(1)
  await guest.revoke()
  expect(await waiting).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^unauthenticated: /) }],
  })
})

test('nothing is approved ahead once the token of the approver is revoked', async () => {
  const { store, clock, client, revoke } = await startGuest()
  const { lease, id } = await holdDeletes(store, ['a'], clock.now())
  const params = { id }
  const { hash } = await client.call('GET /approvals/:id', { params })
  await client.call('POST /approvals/:id/approve', { params, body: { hash } })
  await askDelete(store, lease, 'a', clock.now())
  const effects = [
    { class: 'delete', run: lease.runId, step: 'b', target: 'storage_a:b', path: '/b', bytes: 100 } as const,
  ]
  const told = client.events('POST /approvals/:id/approve-ahead', { params, body: { effects } })[Symbol.asyncIterator]()
  expect((await told.next()).value).toMatchObject({ left: 1, isOver: false })
  await revoke()
  expect(await askDelete(store, lease, 'b', clock.now())).toMatchObject({ kind: 'held' })
  clock.advance(250)
  const stopped = expect.stringMatching(/^Approval apr_\w+ was not approved: Your login is over\.$/)
  expect((await told.next()).value).toMatchObject({ approved: 0, stopped, isOver: true })
  expect(await store.listApprovals({ status: 'open', limit: 9, now: clock.now() })).toMatchObject([{ votes: [] }])
})
