import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import type { ProbeCheck } from '../../../../src/sandbox/index.ts'
import { openReceiver } from '../../../sandbox/support/open-receiver.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'
import { openSandboxCommand } from '../../support/sandbox-command.ts'

test('sandbox probe finds an endpoint by name, and sandbox reset keeps the access of the app', async () => {
  const everything = defineWorkflow({ id: 'note', on: 'file.created', run: () => 'noted' })
  const { dataDir, sandbox, hear, urls } = await startTestApp({ workflows: [everything] })
  const upshot = (...args: string[]) => runHere(dataDir, ['sandbox', ...args, '--json'])
  const probe = await upshot('probe', 'sandbox')
  expect(probe.json.data.checks.filter(({ passed }: ProbeCheck) => !passed)).toEqual([])
  expect(probe).toMatchObject({ exit: 0, json: { data: { passed: true, url: urls.endpoints.sandbox } } })
  expect((await upshot('probe', 'nobody')).exit).toBe(5)

  await sandbox.storage('storage_a').put('/lost.txt', 'x')
  expect((await upshot('reset', '--yes')).json.data).toEqual({ reset: true, keptAccess: true })
  expect(readdirSync(sandbox.storage('storage_a').dir)).toEqual([])
  expect(sandbox.settings.get().plan).toBe('enterprise')
  await sandbox.storage('storage_a').put('/after.txt', 'x')
  const { id } = sandbox.events.list()[0] ?? { id: '' }
  expect(await hear('delivery.received', ({ event }) => event === id)).toMatchObject({ verdict: 'accepted' })
})

test('sandbox probe exits with 7 if the receiver fails a check', async () => {
  const { sandbox, run } = await openSandboxCommand()
  const careless = await openReceiver()
  await sandbox.webhooks.add({ url: careless.url })
  expect(await run('probe', careless.url)).toMatchObject({
    exit: 7,
    stdout: expect.stringMatching(/forged +refused +200 +no/),
  })
})
