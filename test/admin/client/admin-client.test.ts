import { expect, test } from 'vitest'
import { AdminApiError, AdminClient } from '../../../src/admin/client/index.ts'
import { LASTING_TARGET } from '../../../src/core/safety/audit.ts'
import { eventBody, incoming } from '../../support/fixtures.ts'
import { FILE_TOKEN, startConsole } from '../support/start-console.ts'

test('the client asks typed operations, pages through lists, and throws what the API refuses', async () => {
  const { base, store, clock } = await startConsole()
  for (let event = 0; event < 7; event++) {
    const body = eventBody(`evt_${event}`, 'file.created', {})
    await store.saveDelivery(incoming(`evt_${event}`, { body, receivedAt: clock.now() + event }))
  }
  const client = new AdminClient({ url: base, token: FILE_TOKEN })
  const session = await client.call('GET /session')
  expect(session).toMatchObject({ role: 'admin', effects: 'live' })
  const who = { actor: 'app:ada', role: 'owner', from: 'host', reason: null }
  const action = { action: 'effects.switch', target: LASTING_TARGET, parameters: { before: 'live', to: 'plan' } }
  await store.recordAction({ ...who, ...action, at: clock.now() }, 'done')
  expect(await client.call('GET /session')).toMatchObject({ effects: 'plan' })
  const seqs: number[] = []
  for await (const event of client.list('GET /events', { query: { limit: 2 } })) seqs.push(event.seq)
  expect(seqs).toHaveLength(7)
  expect(seqs).toEqual(seqs.toSorted((one, other) => other - one))
  const refused = client.call('GET /runs/:id', { params: { id: 'run_none' } })
  await expect(refused).rejects.toBeInstanceOf(AdminApiError)
  await expect(refused).rejects.toMatchObject({ status: 404, code: 'not_found' })
})

test('what an operation needs is known to the compiler', () => {
  const client = new AdminClient({ url: 'http://127.0.0.1:1' })
  const calls = () => [
    // @ts-expect-error: the path has a parameter.
    client.call('GET /runs/:id'),
    // @ts-expect-error: there is no such status.
    client.call('GET /runs', { query: { status: 'lost' } }),
    // @ts-expect-error: the body is needed.
    client.call('POST /events', {}),
    client.call('GET /runs'),
    client.call('POST /runs/:id/retry', { params: { id: 'run_1' }, body: {} }),
  ]
  expect(calls).toBeTypeOf('function')
})
