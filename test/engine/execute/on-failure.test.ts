import { expect } from 'vitest'
import { cron } from '../../../src/author/cron.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { createTestEngine, type TestEngine, test } from '../../support/test-engine.ts'

const NO_RETRY = { attempts: 1 }

/** The first notice of a kind about another run than this one, heard already or still to come. */
async function hearOther(engine: TestEngine, kind: 'run.completed' | 'run.failed' | 'run.parked', runId: string) {
  const isMeant = (notice: { run: string }) => notice.run !== runId
  const heard = engine.heard.find((notice) => notice.kind === kind && isMeant(notice as { run: string }))
  return ((heard as { run: string } | undefined) ?? (await engine.notices.once(kind, isMeant))).run
}

test('a failing `onFailure`, like a canceled run, is followed by nothing, and its `where` is not called', async () => {
  const engine = createTestEngine()
  const fail = () => {
    throw new Error('always')
  }
  let asked = 0
  await engine.start([
    defineWorkflow({
      id: 'hopeless',
      on: '*',
      retry: NO_RETRY,
      where: () => ++asked > 0,
      run: fail,
      onFailure: fail,
    }),
  ])
  const first = await engine.run('hopeless')
  await hearOther(engine, 'run.failed', first.id)
  expect(await engine.store.listRuns({ limit: 9 })).toMatchObject([
    { status: 'failed', handler: 'onFailure', originRun: first.id },
    { status: 'failed', handler: 'run' },
  ])
  expect(asked).toBe(1)
  const canceled = await queueRun(engine.store, 'evt_2', 'other')
  await engine.store.cancelRun(canceled, 'by hand', NOW)
  expect(await engine.store.listRuns({ limit: 9, originRun: canceled })).toEqual([])
})

test('the `onFailure` of a cron workflow receives the tick', async ({ engine }) => {
  const worker = await engine.start([
    defineWorkflow({
      id: 'nightly',
      on: cron('0 3 * * *'),
      retry: NO_RETRY,
      run: () => {
        throw new Error('no')
      },
      onFailure: ({ tick }) => tick.scheduledFor.getTime(),
    }),
  ])
  const run = await engine.store.recordTick('nightly', { scheduledFor: NOW, missed: 0 }, NOW)
  worker.wake()
  const followUp = await hearOther(engine, 'run.completed', run ?? '')
  expect(await engine.store.findRun(followUp)).toMatchObject({ output: String(NOW), originRun: run })
})
