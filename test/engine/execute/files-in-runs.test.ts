import { expect, vi } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { storageName } from '../../../src/author/storage-name.ts'
import { RetryAt } from '../../../src/core/runs/retry.ts'
import { LocalRateLimitError } from '../../../src/files/errors.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'
import { deliver, filesOf } from '../support/files-in-runs.ts'

const ref = { service: 'storage_a', id: 'fil_1' } as const

const details = { ...ref, name: 'x' }

test('a files call is retried as often, and limited in time, as its author says', async ({ engine }) => {
  let calls = 0
  const hang = (_file: never, { signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      calls++
      signal.addEventListener('abort', () => reject(signal.reason))
      queueMicrotask(() => engine.clock.advance('7s'))
    })
  const look = define('look', ({ files }) => files.get(ref, { retry: { attempts: 2, min: 1, max: 1 }, timeout: '7s' }))
  await engine.start([look], { filesFor: filesOf({ get: hang as never }) })
  const run = await engine.run('look')
  const ended = run.status === 'waiting' ? await engine.advance(run.id, '1s') : run
  expect(ended).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('within 7000 ms') } })
  expect(calls).toBe(2)
})

test('a files call that is told to wait frees its slot and records the reason once', async ({ engine }) => {
  let calls = 0
  const get = async () => {
    if (++calls <= 5) throw new RetryAt(engine.clock.now() + 60_000, 'the limit leaves no place')
    return details
  }
  const look = define('look', { retry: { attempts: 1 } }, ({ files }) => files.get(ref))
  await engine.start([look], { filesFor: filesOf({ get }) })
  let run = await engine.run('look')
  expect(run.reason).toBe('next attempt of step "files.get[storage_a:fil_1]": the limit leaves no place')
  for (let turn = 0; turn < 5; turn++) run = await engine.advance(run.id, '60s')
  expect(run).toMatchObject({ status: 'completed' })
  expect(await engine.store.listStepFailures(run.id)).toHaveLength(1)
  expect(await engine.store.listSteps(run.id)).toMatchObject([{ status: 'completed', attempt: 1, error: null }])
})

test('a files call that waits for the limit of its client has not failed', async ({ engine }) => {
  const call = { operation: 'get', service: 'storage_a' } as const
  const refused = new LocalRateLimitError('no request yet', { ...call, retryAt: engine.clock.now() + 60_000 })
  const get = vi.fn(async () => details).mockRejectedValueOnce(refused)
  await engine.start([define('look', ({ files }) => files.get(ref))], { filesFor: filesOf({ get }) })
  const { id, reason } = await engine.run('look')
  expect(reason).toBe('next attempt of step "files.get[storage_a:fil_1]": no request yet')
  expect(await engine.advance(id, '60s')).toMatchObject({ status: 'completed' })
  expect(await engine.store.listStepFailures(id)).toEqual([])
})

test("a storage name is read in the spelling of the event's account", async ({ engine }) => {
  const created = defineEvent('file.created', { data: z.object({ service: storageName }) })
  const name = defineWorkflow({ id: 'name', on: created, run: ({ event }) => event.data.service })
  await engine.start([name], {
    spellingsOf: async (account) => (account === 'default' ? { storage_b: 'desk-drive' } : {}),
  })
  const known = await deliver(engine, 'evt_1', 'file.created', { service: 'Desk Drive' }, 'name')
  expect(await engine.passOf(known)).toMatchObject({ status: 'completed', output: '"storage_b"' })
  const unknown = await deliver(engine, 'evt_2', 'file.created', { service: 'tape' }, 'name')
  expect(await engine.passOf(unknown)).toMatchObject({
    status: 'waiting',
    dueAt: null,
    reason: expect.stringContaining('must name a storage'),
  })
})

test('a files call inside step.map is refused at once, so that no item holds a slot for another', async () => {
  const engine = createTestEngine()
  let calls = 0
  const get = async () => {
    calls++
    return details
  }
  const look = define('look', ({ step, files }) =>
    step.map('look', ['fil_1', 'fil_2'], String, (id) => files.get({ ...ref, id })),
  )
  await engine.start([look], { filesFor: filesOf({ get }) })
  const run = await engine.run('look')
  expect(run).toMatchObject({ status: 'failed', error: { code: 'nested_step' } })
  expect(run.error?.message).toContain('inside step "look[fil_1]"')
  expect(calls).toBe(0)
})
