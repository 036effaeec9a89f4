import { expect, test } from 'vitest'
import { call } from './support/call.ts'
import { openReceiver } from './support/open-receiver.ts'
import { openSandbox } from './support/open-sandbox.ts'

test('the log tells what happens, without keys, secrets, signatures or download URLs', async () => {
  const lines: ({ msg: string } & Record<string, unknown>)[] = []
  const sandbox = await openSandbox({ log: (line) => lines.push(line) })
  const receiver = await openReceiver()
  const { key } = await sandbox.keys.create({ name: 'test' })
  await sandbox.webhooks.add({ url: `${receiver.url}?token=canary-in-url`, secret: 'canary-secret-canary-secret' })
  const { id } = await sandbox.storage('storage_a').put('/canary-name.txt', 'canary-content')
  const { body } = await call(sandbox, `/files/${id}/download?service=storage_a`, { key })
  await fetch(body.data.downloadUrl)
  await call(sandbox, '/files', { key: 'sk_sandbox_canary' })
  await sandbox.deliveries.until({ state: 'delivered' })

  expect(new Set(lines.map(({ msg }) => msg))).toEqual(new Set(['sandbox started', 'event', 'delivery', 'request']))
  const text = JSON.stringify(lines)
  const signature = String(receiver.received[0]?.headers['x-service-signature'])
  for (const secret of [key, 'canary', signature, new URL(body.data.downloadUrl).search])
    expect(text).not.toContain(secret)
})

test('a failure of the sandbox is logged and answered with a bare 500', async () => {
  const lines: ({ msg: string } & Record<string, unknown>)[] = []
  const sandbox = await openSandbox({
    log: (line) => {
      if (line.msg === 'event') throw new Error('the log is full')
      lines.push(line)
    },
  })
  const response = await fetch(`${sandbox.origin}/_sandbox/events`, {
    method: 'POST',
    headers: { 'x-sandbox-control': '1', 'content-type': 'application/json' },
    body: '{"type":"file.created","data":{}}',
  })
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('the log is full')])
  expect(lines.at(-1)).toMatchObject({ msg: 'sandbox failed', error: { message: 'the log is full' } })
  expect(sandbox.events.list()).toEqual([])
})
