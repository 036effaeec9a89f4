import { expect, test } from 'vitest'
import type { RunContext } from '../../../src/author/index.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'
import { filesOf } from '../support/files-in-runs.ts'

const ENTRY = { service: 'storage_a', id: 'a', type: 'file', path: '/a', size: 1, modifiedAt: null }

type Act = (context: RunContext) => Promise<unknown>

test.each<[string, Act, { awaits: 'event' | 'people' | null }]>([
  ['a sleep', ({ step }) => step.sleep('nap', '1h'), { awaits: null }],
  [
    'a wait for an event',
    ({ step }) => step.waitFor('gone', { on: 'file.deleted', timeout: '1h' }),
    { awaits: 'event' },
  ],
  ['a question', ({ step }) => step.approve('go on', { ask: 'Go on?' }), { awaits: 'people' }],
  ['a delete over a limit', ({ files }) => files.delete({ service: 'storage_a', id: 'a' }), { awaits: 'people' }],
  [
    'a question beside a sleep',
    ({ step }) => Promise.all([step.sleep('nap', '1h'), step.approve('go on', { ask: 'Go on?' })]),
    { awaits: 'people' },
  ],
])('the notice of %s says what ends it', async (_, run, ends) => {
  const engine = createTestEngine()
  const workflow = define('waits', { on: 'file.created', guard: { deletes: { perRun: 0 } } }, run)
  await engine.start([workflow], { filesFor: filesOf({ find: async () => ENTRY }) })
  const parked = engine.notices.once('run.parked')
  await engine.run('waits')
  const notice = await parked
  expect(notice).toMatchObject(ends)
})
