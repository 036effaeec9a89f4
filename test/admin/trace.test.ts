import { expect, test } from 'vitest'
import { z } from 'zod'
import { callable, defineWorkflow } from '../../src/author/index.ts'
import { planEndpoint } from '../../src/core/incoming/endpoint.ts'
import { openAdmin } from '../support/admin-client.ts'
import { incoming } from '../support/fixtures.ts'
import { startTestApp } from '../support/test-app.ts'
import { startConsole } from './support/start-console.ts'

const child = defineWorkflow({ id: 'child', on: callable(z.object({})), run: async () => 'done' })
const parent = defineWorkflow({
  id: 'parent',
  on: 'order.made',
  async run({ step }) {
    await step.invoke('ask the child', child, {})
    await step.send('tell', 'order.checked', {})
  },
})
const later = defineWorkflow({ id: 'later', on: 'order.checked', run: async () => 'heard' })

test('a trace has the runs of an event, their runs, and the events that they sent with theirs', async () => {
  const { urls, dataDir, hear } = await startTestApp({ workflows: [child, parent, later] })
  const client = openAdmin(dataDir, urls.admin)
  const { event: id } = await client.call('POST /events', { body: { type: 'order.made', data: {} } })
  const { run: first } = await hear('run.completed', ({ workflow }) => workflow === 'later')
  await client.call('POST /events/:id/replay', { params: { id }, body: {} })
  await hear('run.completed', ({ workflow, run }) => workflow === 'later' && run !== first)
  const { nodes, isComplete } = await client.call('GET /events/:id/trace', { params: { id } })
  const nameOf = (node: string | null) => {
    const found = nodes.find((each) => each.id === node)
    return found?.run?.workflow ?? found?.event?.type ?? null
  }
  const edges = nodes.map(({ id: each, parent: from, cause, step }) => [nameOf(from), cause, nameOf(each), step])
  expect(edges.slice(0, 6)).toEqual([
    [null, null, 'order.made', null],
    ['order.made', 'started', 'parent', null],
    ['parent', 'invoked', 'child', 'ask the child'],
    ['parent', 'sent', 'order.checked', 'tell'],
    ['parent', 'replayed', 'parent', null],
    ['order.checked', 'started', 'later', null],
  ])
  expect(isComplete).toBe(true)
})

test('a trace that is larger than the page says where it is cut', async () => {
  const { store, clock, get } = await startConsole()
  const workflows = Array.from({ length: 120 }, (_, index) => `workflow-${index}`)
  // An event is looked for in the accounts of the endpoints.
  await store.addEndpoint(planEndpoint({ name: 'main' }, clock.now()))
  await store.saveDelivery(incoming('evt_1', { workflows }))
  const trace = await get('/events/evt_1/trace')
  const nodes = trace.nodes as { isCut: boolean }[]
  expect([nodes.length, nodes[0]?.isCut, nodes[1]?.isCut, trace.isComplete]).toEqual([101, true, false, false])
})
