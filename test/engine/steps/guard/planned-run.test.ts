import { expect, test } from 'vitest'
import { newId } from '../../../../src/core/ids.ts'
import type { Asked } from '../../../../src/core/safety/effect.ts'
import { DEFAULT_POLICY } from '../../../../src/core/safety/guard.ts'
import { hashPlanned } from '../../../../src/core/store/planned-run.ts'
import { incoming, NOW } from '../../../support/fixtures.ts'
import { createTestEngine } from '../../../support/test-engine.ts'
import { define } from '../../../support/workflows.ts'
import { filesOf } from '../../support/files-in-runs.ts'

const service = 'storage_a' as const
const state = (id: string): Asked => ({ path: `/${id}`, bytes: 1, modifiedAt: null })
const entry = (id: string) => ({ service, id, type: 'file', path: `/${id}`, size: 1, modifiedAt: null }) as never
const deletion = (id: string, asked: Asked | null = state(id)) => ({
  step: `files.delete[${service}:${id}]`,
  target: `${service}:${id}`,
  asked,
})
const write = (n: number) => ({
  step: 'note',
  target: 'notes',
  asked: { path: null, bytes: null, modifiedAt: null, input: { n } },
})

/** Starts a run with a plan of `items`, and gives what it did and its row. */
async function runWith(items: readonly ReturnType<typeof deletion>[], guard = DEFAULT_POLICY, event = 'evt_1') {
  const engine = createTestEngine()
  const done: string[] = []
  const tidy = define('tidy', { on: 'file.created' }, async ({ event, files, step }) => {
    await files.delete({ service, id: 'unread' })
    if (event.id === 'evt_goes_on') return step.continueAs({ id: 'evt_next', data: {} })
    await files.delete(await files.get({ service, id: 'read' }))
    await step.run('note', () => void done.push('note'), { target: 'notes', input: { n: 1 } })
  })
  const client = filesOf({
    get: async ({ id }: { id: string }) => entry(id),
    find: async ({ id }: { id: string }) => entry(id),
    delete: async ({ id }: { id: string }) => {
      done.push(id)
      return { outcome: 'deleted', proof: 'reply' }
    },
  })
  await engine.start([tidy], { filesFor: client, guard })
  await engine.store.saveDelivery(incoming(event, { workflows: [] }))
  const [run, approval] = [newId('run', NOW), newId('apr', NOW)]
  const about = { run, approval, items, why: 'under a plan', needs: 1, expiresAt: NOW + 86_400_000 }
  const planned = { event: { id: event, account: 'default' }, workflow: 'tidy', ...about }
  const hash = hashPlanned(planned)
  await engine.store.startPlanned(planned, { actor: 'anna', reason: null, hash, signature: null }, NOW)
  return { row: await engine.passOf(run), done }
}

test('a run with a plan does what the plan lists, also a delete of a file that it has not read', async () => {
  const { row, done } = await runWith([deletion('unread'), deletion('read'), write(1)])
  expect(row.status).toBe('completed')
  expect(done).toEqual(['unread', 'read', 'note'])
})

test.each([
  ['a delete that is not listed', [deletion('unread'), write(1)], ['unread']],
  ['a file in another state', [deletion('unread', { ...state('unread'), bytes: 2 }), deletion('read')], []],
  ['a write of other content', [deletion('unread'), deletion('read'), write(2)], ['unread', 'read']],
])('%s is held, also where the guard is off', async (_, items, before) => {
  const { row, done } = await runWith(items, { ...DEFAULT_POLICY, limits: null })
  expect(done).toEqual(before)
  expect(row.status).toBe('waiting')
  expect(row.reason).toContain('outside of the plan that the run was started with')
})

test('a run with a plan waits for a person where it would go on in another run, which has no plan', async () => {
  const { row, done } = await runWith([deletion('unread')], DEFAULT_POLICY, 'evt_goes_on')
  expect(done).toEqual(['unread'])
  expect(row).toMatchObject({ status: 'waiting', dueAt: null, reason: expect.stringContaining('step.continueAs') })
})
