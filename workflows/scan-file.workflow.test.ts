import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { scanner } from '../config/scanner.ts'
import { type Testbed, testbed } from '../src/testing/index.ts'
import { override } from '../test/support/sample-output.ts'
import workflow from './scan-file.workflow.ts'

/** A run that has ordered the scan of a file at the sandbox's scanner. */
async function order(t: Testbed) {
  const sandbox = await t.sandbox()
  override(scanner, { url: `${sandbox.origin}/scanner/scans` })
  await t.storage('storage_a').put('/in/letter.pdf', 'a letter')
  const file = sandbox
    .storage('storage_a')
    .list()
    .find(({ type }) => type === 'file')
  return t.start(workflow, { service: 'storage_a', id: file?.id ?? '' })
}

test('a scan is ordered with a callback, and the run goes on with the verdict', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const run = await order(t)
  expect(run).toMatchObject({ status: 'waiting', reason: 'waits for hook "scan" in step "scanned"' })
  await t.answer(run, 'scan', { verdict: 'clean' })
  expect(t.run(workflow).output).toEqual({ path: '/in/letter.pdf', verdict: 'clean' })
})

test('a scanner that never answers leaves the verdict unknown after two hours', async () => {
  await using t = await testbed({ workflows: [workflow] })
  await order(t)
  await t.advance('2h')
  expect(t.run(workflow).output).toEqual({ path: '/in/letter.pdf', verdict: 'unknown' })
})

test('the stand-in of the sandbox answers an order at its callback URL', async () => {
  await using t = await testbed({ workflows: [workflow] })
  const { origin } = await t.sandbox()
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const called = once(server, 'request')
  const callback = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks/x`
  const body = JSON.stringify({ path: '/in/eicar.com', callback })
  const headers = { 'Content-Type': 'application/json' }
  expect((await fetch(`${origin}/scanner/scans`, { method: 'POST', headers, body })).status).toBe(202)
  const [request, response] = await called
  response.end()
  expect(await json(request)).toEqual({ verdict: 'infected' })
})
