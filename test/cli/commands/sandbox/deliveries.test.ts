import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import type { ProbeCheck } from '../../../../src/sandbox/index.ts'
import { openReceiver } from '../../../sandbox/support/open-receiver.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'
import { openSandboxCommand } from '../../support/sandbox-command.ts'

test('webhooks are registered and removed, and missed events are resent and backfilled', async () => {
  const { sandbox, run, json } = await openSandboxCommand()
  const receiver = await openReceiver()
  const webhook = (await json('webhook', 'add', receiver.url, '--events', 'file.*', '--storage', 'storage_a')).data
  expect(webhook).toMatchObject({ events: ['file.*'], storages: ['storage_a'], secrets: 1, secret: expect.any(String) })
  expect((await run('webhook', 'list')).stdout).not.toContain(webhook.secret)
  await sandbox.storage('storage_a').put('/a.txt', 'a')
  const [first] = await sandbox.deliveries.until({ state: 'delivered' })
  const list = await run('deliveries', 'list', '--state', 'delivered', '--webhook', receiver.url)
  expect(list.stdout).toMatch(/file\.created +delivered +event +1 +200/)
  // The beginning of an id is enough.
  const short = first?.eventId.slice(0, 17) ?? ''
  expect((await json('deliveries', 'resend', short)).data).toMatchObject([{ cause: 'resend' }])
  await sandbox.deliveries.until({ state: 'delivered', count: 2 })
  expect((await json('deliveries', 'list', '--event', short)).data).toMatchObject([{ cause: 'resend' }, {}])

  await sandbox.webhooks.enable(webhook.id, false)
  await sandbox.storage('storage_a').put('/missed.txt', 'missed')
  await sandbox.webhooks.enable(webhook.id, true)
  expect((await json('deliveries', 'backfill', webhook.id.slice(0, 17), '--since', '1h')).data).toMatchObject({
    queued: 1,
  })
  await sandbox.deliveries.until({ state: 'delivered', count: 3 })
  expect((await json('deliveries', 'list', '--limit', '1')).data).toMatchObject([{ cause: 'backfill' }])
  expect((await run('deliveries', 'resend', 'evt_none')).exit).toBe(5)

  expect((await run('webhook', 'remove', webhook.id)).exit).toBe(3)
  expect((await json('webhook', 'remove', webhook.id, '--yes')).data).toMatchObject({ removed: true })
  expect((await run('deliveries', 'resend', first?.eventId ?? '')).exit).toBe(5)
  const given = await runHere(
    tempFolder(),
    ['sandbox', 'webhook', 'add', receiver.url, '--secret-env', 'S', '--url', sandbox.url],
    {
      env: { S: 'a secret from the environment' },
    },
  )
  expect(given.stdout).not.toContain('secret')
  expect(sandbox.webhooks.list()).toMatchObject([{ secrets: ['a secret from the environment'] }])
})

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
