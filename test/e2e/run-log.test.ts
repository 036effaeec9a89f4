import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { runHere } from '../cli/support/run-here.ts'
import { startTestApp } from '../support/test-app.ts'

test('lines that a run logs are kept with it once, with secrets redacted, and runs show prints them', async () => {
  const talk = defineWorkflow({
    id: 'talk',
    on: 'order.placed',
    run: async ({ log, step }) => {
      log.info('begins', { order: 12, password: 'hidden-word' })
      await step.run('look', () => 1, { effect: 'read' })
      log.warn('goes on')
    },
  })
  const { dataDir, app, hear } = await startTestApp({ workflows: [talk] })
  const sent = await runHere(dataDir, ['trigger', 'order.placed', '--json'])
  const [id] = sent.json.data.deliveries[0].runs
  await hear('run.completed')
  await expect.poll(() => app.store.listRunLog(id)).toHaveLength(2)
  const shown = await runHere(dataDir, ['runs', 'show', id, '--json'])
  expect(shown.json.data.log).toMatchObject([
    { number: 1, level: 'info', message: 'begins', facts: { order: 12, password: '[redacted]' } },
    { number: 2, level: 'warn', message: 'goes on', facts: null },
  ])
  const text = (await runHere(dataDir, ['runs', 'show', id])).stdout
  expect(text).toMatch(/Log\n {2}\S+ {2}info {3}begins {2}\{"order":12,"password":"\[redacted\]"\}\n/)
})
