import { expect, onTestFinished, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { startTestApp } from '../support/test-app.ts'

/** Far below the pause of the poll, so that only the watch on other processes explains it. */
const SOON_MS = 500

test('a vote from another process wakes the run that asked, without a poll', async () => {
  const workflow = defineWorkflow({
    id: 'asks',
    on: 'file.created',
    where: ({ data }) => JSON.stringify(data).includes('asked.txt'),
    run: ({ step }) => step.approve('go on', { ask: 'Go on?' }),
  })
  const { dataDir, hear, sandbox } = await startTestApp({ workflows: [workflow] })
  await sandbox.storage('storage_c').put('/asked.txt', '1')
  const opened = await hear('approval.opened')
  await hear('run.parked', ({ run }) => run === opened.run)
  const other = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => other.close())
  const found = await other.findApproval(opened.approval, Date.now())
  const word = { verdict: 'approved', actor: 'anna', reason: null, only: null, answer: null, signature: null } as const
  const before = performance.now()
  await other.decideApproval({ ...word, approval: opened.approval, hash: found?.hash ?? '' }, Date.now())
  await hear('approval.closed')
  const ms = performance.now() - before
  expect(ms).toBeLessThan(SOON_MS)
  await hear('run.completed', ({ run }) => run === opened.run)
})
