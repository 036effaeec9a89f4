import { expect, onTestFinished, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { wordOf } from '../contract/support/word-of.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { startTestApp } from '../support/test-app.ts'

/** Far below the pause of the poll, so that only the watch on other processes explains it. */
const SOON_MS = 300

test('a vote from another process wakes the run that asked, without a poll', async () => {
  const workflow = defineWorkflow({
    id: 'asks',
    on: 'file.created',
    where: ({ data }) => JSON.stringify(data).includes('asked.txt'),
    run: ({ step }) => step.approve('go on', { ask: 'Go on?' }),
  })
  const { dataDir, hear, sandbox } = await startTestApp({ workflows: [workflow] })
  const other = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => other.close())
  const times = new Map<string, number>()
  // A busy machine may hold up one of them.
  for (const turn of [1, 2, 3]) {
    await sandbox.storage('storage_c').put(`/${turn}-asked.txt`, '1')
    const opened = await hear('approval.opened', ({ approval }) => !times.has(approval))
    await hear('run.parked', ({ run }) => run === opened.run)
    const word = await wordOf(other, opened.approval)
    const before = performance.now()
    await other.decideApproval(word, Date.now())
    await hear('approval.closed', ({ approval }) => approval === opened.approval)
    times.set(opened.approval, performance.now() - before)
    await hear('run.completed', ({ run }) => run === opened.run)
  }
  const [, median] = [...times.values()].sort((one, other) => one - other)
  expect(median).toBeLessThan(SOON_MS)
})
