import { expect } from 'vitest'
import { cron } from '../../../src/author/cron.ts'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { NOW } from '../../support/fixtures.ts'
import { type TestEngine, test } from '../../support/test-engine.ts'

const NO_RETRY = { attempts: 1 }

/** The first notice of a kind about another run than this one, heard already or still to come. */
async function hearOther(engine: TestEngine, kind: 'run.completed' | 'run.failed' | 'run.parked', runId: string) {
  const isMeant = (notice: { run: string }) => notice.run !== runId
  const heard = engine.heard.find((notice) => notice.kind === kind && isMeant(notice as { run: string }))
  return ((heard as { run: string } | undefined) ?? (await engine.notices.once(kind, isMeant))).run
}

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
