import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import type { Removal, Work } from '../../../src/admin/ports/surroundings.ts'
import { startConsole, testSurroundings } from '../support/start-console.ts'

/** A server whose deletes go on until their asker ends them, and agents that share one token. */
async function startDeletes() {
  const asked: Work[] = []
  const { files, ...others } = testSurroundings()
  const remove = (_: unknown, work: Work) => {
    asked.push(work)
    return new Promise<Removal[]>((_, reject) =>
      work.signal.addEventListener('abort', () => reject(work.signal.reason)),
    )
  }
  const started = await startConsole({ surroundings: { ...others, files: { ...files, remove } } })
  const requestInit = { headers: { authorization: `Bearer ${await started.makeToken('admin')}` } }
  const url = new URL(`${started.base}/mcp?allow-writes`)
  const open = async () => {
    const agent = new Client({ name: 'a test', version: '1' })
    await agent.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never)
    onTestFinished(() => agent.close())
    return agent
  }
  /** Asks for a delete, and resolves once it is under way. */
  const begin = async (agent: Client) => {
    const before = asked.length
    const left = new AbortController()
    const given = { files: [{ service: 'storage_a', id: 'fil_1', path: '/a', size: 1, modifiedAt: null }] }
    const ended = agent
      .callTool({ name: 'deleteFiles', arguments: given }, undefined, { signal: left.signal })
      .catch((error: unknown) => error)
    await expect.poll(() => asked.length).toBe(before + 1)
    return { cancel: () => left.abort('enough'), ended, work: asked[before] as Work }
  }
  return { open, begin, url, requestInit }
}

test('a tool that an agent cancels over HTTP ends, and no other does', async () => {
  const { open, begin } = await startDeletes()
  const [agent, twin] = [await open(), await open()]
  const [first, second, other] = [await begin(agent), await begin(agent), await begin(twin)]
  first.cancel()
  await expect.poll(() => first.work.signal.aborted).toBe(true)
  await first.ended
  expect([second.work.signal.aborted, other.work.signal.aborted]).toEqual([false, false])
  await twin.close()
  await expect.poll(() => other.work.signal.aborted).toBe(true)
  expect(second.work.signal.aborted).toBe(false)
})

test('a cancellation of nothing is taken and does nothing, and an agent without an id cancels nothing', async () => {
  const { open, begin, url, requestInit } = await startDeletes()
  const { work } = await begin(await open())
  const tell = async (requestId: unknown, headers: object = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    const form = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    return fetch(url, { method: 'POST', body, headers: { ...requestInit.headers, ...form, ...headers } })
  }
  for (const id of [1, 'none', 9_999]) expect((await tell(id)).status).toBe(202)
  expect((await tell(1, { 'mcp-session-id': 'another' })).status).toBe(202)
  expect(work.signal.aborted).toBe(false)
})

test('nobody without a token has a body read', async () => {
  const { url } = await startDeletes()
  const headers = { 'content-type': 'application/json' }
  for (const body of ['{', `"${'x'.repeat(2_000_000)}"`])
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401)
})
