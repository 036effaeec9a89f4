import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { createFilesClient } from '../../src/files/index.ts'
import { runHere } from '../cli/support/run-here.ts'
import { startTestApp } from '../support/test-app.ts'

test('a request to the service past `files` is told without any setting, and none that `files` makes', async () => {
  const { dataDir, sandbox, hear, heard } = await startTestApp({
    workflows: [
      defineWorkflow({
        id: 'tidy',
        on: 'order.placed',
        run: async ({ files, step }) => {
          const file = await files.find({ service: 'storage_a', path: '/old.txt' })
          if (file) await files.delete(file)
          await step.run('by hand', async () => (await fetch(`${sandbox.url}/account?secret=hush`)).status)
          await step.run('start', () => void execFileSync(process.execPath, ['-e', '']))
          const other = createFilesClient({ baseUrl: sandbox.url, apiKey: 'sk_sandbox_any_key_of_its_own' })
          await step.run('remove', () => other.delete({ service: 'storage_a', id: 'fil_1' }), {
            retry: { attempts: 1 },
          })
        },
      }),
    ],
  })
  await sandbox.storage('storage_a').put('/old.txt', 'bytes')
  await runHere(dataDir, ['trigger', 'order.placed', '--json'])
  const { run } = await hear('run.failed', ({ workflow }) => workflow === 'tidy')
  expect(heard).toContainEqual(expect.objectContaining({ kind: 'step.completed', effect: 'delete' }))
  const host = new URL(sandbox.url).host
  expect(heard.filter(({ kind }) => kind === 'code.undeclared')).toMatchObject([
    { call: 'fetch GET', step: 'by hand', where: 'past_files', host },
    { call: 'child process', step: 'start', where: 'unseen', host: null },
    { call: 'createFilesClient DELETE', step: 'remove', where: 'refused', host },
  ])
  const shown = await runHere(dataDir, ['runs', 'show', run])
  const at = /past-files\.test\.ts:\d+:\d+/.source
  for (const line of [
    `fetch GET to ${host} past \`files\`, at .*${at}, step "by hand"`,
    `child process and nobody sees what that does, at .*${at}, step "start"`,
    `createFilesClient DELETE to ${host} past \`files\`, and was refused`,
  ]) {
    expect(shown.stdout).toMatch(new RegExp(line))
  }
  const listed = await runHere(dataDir, ['effects', 'list', '--run', run])
  expect(listed.stdout).toMatch(/noted +fetch GET/)
  expect(JSON.stringify([heard, shown, listed])).not.toContain('hush')
})
