import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import { listen } from '../../support/listen.ts'
import { control } from '../support/call.ts'
import { openReceiver } from '../support/open-receiver.ts'
import { test } from '../support/open-sandbox.ts'

const SECRET = Buffer.from('a secret of twenty-four bytes').toString('base64')

/** A receiver that checks everything it should, with a foreign implementation of the signature. */
async function openStrictReceiver(clock: () => number): Promise<string> {
  const server = createServer(async (request, response) => {
    const end = (status: number) => response.writeHead(status, { connection: 'close' }).end()
    if (Number(request.headers['content-length']) > 1_000_000) return end(413)
    if (request.headers['content-type'] !== 'application/json') return end(415)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const timestamp = Number(request.headers['webhook-timestamp'])
    if (Math.abs(clock() / 1000 - timestamp) > 300) return end(401)
    try {
      new Webhook(SECRET).verify(Buffer.concat(chunks), request.headers as Record<string, string>)
      JSON.parse(Buffer.concat(chunks).toString())
      end(200)
    } catch {
      end(401)
    }
  })
  return `${await listen(server)}/hooks`
}

test('the probe passes a receiver that refuses everything it should', async ({ sandbox }) => {
  const url = await openStrictReceiver(() => sandbox.clock.now())
  const { id } = await sandbox.webhooks.add({ url, secret: SECRET, scheme: 'standard-webhooks' })
  const report = await sandbox.probe(id)
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([])
  expect(report.passed).toBe(true)
  expect(report.checks.map(({ name }) => name)).toEqual([
    'valid',
    'repeated',
    'forged',
    'unsigned',
    'tampered',
    'stale',
    'oversized',
    'wrong_type',
    'bad_json',
  ])
})

test('the probe shows what a credulous receiver accepts', async ({ sandbox }) => {
  const receiver = await openReceiver()
  const { id } = await sandbox.webhooks.add({ url: receiver.url, secret: SECRET })
  const { body } = await control(sandbox, 'POST', `/webhooks/${id}/probe`)
  expect(body.data.passed).toBe(false)
  const failed = body.data.checks.filter(({ passed }: { passed: boolean }) => !passed)
  expect(failed.map(({ name }: { name: string }) => name)).toEqual([
    'forged',
    'unsigned',
    'tampered',
    'oversized',
    'wrong_type',
    'bad_json',
  ])
  expect(sandbox.deliveries.list()).toEqual([])
})
