import { expect, test } from 'vitest'
import { EMPTY_BOOK } from '../../src/core/alerts/alert-book.ts'
import { newId } from '../../src/core/ids.ts'
import { RULE } from '../watch/alerts/support/open-alerts.ts'
import { startConsole, testSurroundings } from './support/start-console.ts'

const TOPIC = { id: 'grp_1', title: 'verify fails', page: '/runs?group=grp_1', command: 'runs list', since: 1_000 }

/** A console of a project with one rule, whose channel refuses. */
async function startWithRule() {
  const tested: string[] = []
  const console = await startConsole({
    surroundings: {
      ...testSurroundings(),
      alerts: () => ({ rules: [RULE], kinds: { ops: 'slack' } }),
      async testAlert(rule) {
        tested.push(rule.name)
        return [{ channel: 'ops', error: 'hooks.example.com answered 500' }]
      },
    },
  })
  return { ...console, tested }
}

test('the rules are listed with what is wrong now, what was, and the state of their channels', async () => {
  const { store, get, makeToken } = await startWithRule()
  const unsaid = { sentCount: null, lastSentAt: null, endedAt: null, sendingUntil: null }
  const book = {
    topics: [{ ...TOPIC, count: 3, seenAt: 4_000, ...unsaid }],
    past: [{ ...TOPIC, id: 'grp_2', count: 9, endedAt: 3_000, lastSentAt: 3_500 }],
    channels: [{ channel: 'ops', at: 3_500, error: 'it answered 500' }],
  }
  await store.saveAlertBook(RULE.name, { ...EMPTY_BOOK, ...book }, 0)
  const viewer = await makeToken('viewer')
  const rule = {
    name: 'failures',
    when: 'run.failed',
    everyMs: 900_000,
    channels: [{ name: 'ops', kind: 'slack', sentAt: '1970-01-01T00:00:03.500Z', error: 'it answered 500' }],
    open: [{ id: 'grp_1', command: 'upshot runs list', count: 3, lastSentAt: null, endedAt: null }],
    past: [{ id: 'grp_2', count: 9, endedAt: '1970-01-01T00:00:03.000Z' }],
  }
  expect((await get('/alerts', viewer)).items).toMatchObject([rule])
  expect(await get('/alerts/failures', viewer)).toMatchObject(rule)
})

test('the overview counts what is wrong now, and names what began last', async () => {
  const { store, get, makeToken } = await startWithRule()
  const viewer = await makeToken('viewer')
  expect(await get('/overview', viewer)).toMatchObject({ alerts: { open: 0, newest: null } })
  const unsaid = { sentCount: null, lastSentAt: null, endedAt: null, sendingUntil: null, seenAt: 4_000, count: 1 }
  const topics = [
    { ...TOPIC, ...unsaid },
    { ...TOPIC, ...unsaid, id: 'grp_2', title: 'copy fails', since: 2_000 },
    { ...TOPIC, ...unsaid, id: 'grp_3', title: 'that was', since: 3_000, endedAt: 3_500 },
  ]
  await store.saveAlertBook(RULE.name, { ...EMPTY_BOOK, topics }, 0)
  expect(await get('/overview', viewer)).toMatchObject({ alerts: { open: 2, newest: 'copy fails' } })
})

test('the overview counts a refused delivery, and no probe of our own', async () => {
  const { store, get, makeToken, clock } = await startWithRule()
  const now = clock.now()
  for (const verdict of ['probe', 'bad_signature'] as const) {
    await store.saveRefusal({
      id: newId('dlv', now),
      endpointId: null,
      receivedAt: now,
      verdict,
      bodyBytes: 1,
      facts: {},
    })
  }
  expect(await get('/overview', await makeToken('viewer'))).toMatchObject({ received: { refused: 1, accepted: 0 } })
})

test('an admin tests the channels of a rule, which leaves an audit row, and nobody else may', async () => {
  const { ask, store, makeToken, tested } = await startWithRule()
  const send = (rule: string, headers: Record<string, string> = {}) =>
    ask(`/alerts/${rule}/test`, { method: 'POST', headers, body: '{"reason":"new hook"}' })
  const operator = await makeToken('operator')
  const file = { authorization: `Bearer ${operator}` }
  expect((await send('failures', file)).status).toBe(403)
  expect(tested).toEqual([])
  expect(await (await send('failures')).json()).toEqual({
    channels: [{ channel: 'ops', error: 'hooks.example.com answered 500' }],
  })
  expect((await send('unknown')).status).toBe(404)
  expect(tested).toEqual(['failures'])
  expect(await store.listActions({ limit: 2, action: 'alert.test' })).toMatchObject([
    { target: 'failures', reason: 'new hook', outcome: 'begun' },
    { target: 'failures', outcome: 'refused' },
  ])
})
