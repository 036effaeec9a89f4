import { expect } from 'vitest'
import { readTrace } from '../../../src/admin/queries/read-trace.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { test } from '../../support/test-store.ts'

test('a trace reads of the steps of runs those alone that sent events', async ({ store }) => {
  await queueRun(store)
  const { lease } = await claimNext(store)
  const send = { id: 'evt_sent', type: 'x', account: 'default', createdAt: NOW, body: '{}', workflows: [] }
  const step = checkpoint('tell', { kind: 'send', output: '{"id":"evt_sent"}', target: 'x' })
  await store.saveCheckpoint(lease, checkpoint('a'))
  await store.saveCheckpoint(lease, step, undefined, { send })
  const [event] = await store.findEvents('evt_1')
  if (event === undefined) throw new Error('it was saved')
  const listSteps = () => Promise.reject(new Error('a run may have thousands of steps'))
  const nodes = await readTrace({ ...store, listSteps } as typeof store, event, new AbortController().signal)
  expect(nodes).toMatchObject([{ id: 'evt_1' }, { id: lease.runId }, { id: 'evt_sent', cause: 'sent', step: 'tell' }])
})
