import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { runHere } from '../cli/support/run-here.ts'
import { startTestApp } from '../support/test-app.ts'

test('a request to the service past `files` is told, and none that `files` makes', async () => {
  const { dataDir, sandbox, hear, heard } = await startTestApp(
    {
      workflows: [
        defineWorkflow({
          id: 'tidy',
          on: 'order.placed',
          run: async ({ files, step }) => {
            const file = await files.find({ service: 'storage_a', path: '/old.txt' })
            if (file) await files.delete(file)
            await step.run('by hand', async () => (await fetch(`${sandbox.url}/account`)).status)
          },
        }),
      ],
    },
    { config: { watchEffects: true } },
  )
  await sandbox.storage('storage_a').put('/old.txt', 'bytes')
  await runHere(dataDir, ['trigger', 'order.placed', '--json'])
  await hear('run.completed', ({ workflow }) => workflow === 'tidy')
  expect(heard).toContainEqual(expect.objectContaining({ kind: 'step.completed', effect: 'delete' }))
  expect(heard.filter(({ kind }) => kind === 'code.undeclared')).toMatchObject([
    { call: 'fetch GET', step: 'by hand', where: 'past_files' },
  ])
})
