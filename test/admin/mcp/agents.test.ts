import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text as readText } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { TerminalError } from '../../../src/core/errors.ts'
import { openAdmin, readAdminToken } from '../../support/admin-client.ts'
import { CHILD_ENVIRONMENT } from '../../support/child-environment.ts'
import { pathsIn } from '../../support/paths-in.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { startTestApp } from '../../support/test-app.ts'

// A process of its own starts slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const ROOT = join(import.meta.dirname, '../../..')

const onInvoice = defineWorkflow({
  id: 'on-invoice',
  on: 'invoice.paid',
  run: ({ step }) =>
    step.run('book', () => {
      throw new TerminalError('the ledger is closed')
    }),
})

/** An app with three failed runs, and ways for an agent to it. */
async function startAgents() {
  const { urls, dataDir, hear, app, sandbox } = await startTestApp(
    { workflows: [onInvoice] },
    { config: { workflowsDir: tempFolder() } },
  )
  const client = openAdmin(dataDir, urls.admin)
  const runs: string[] = []
  for (const no of [1, 2, 3]) {
    const sent = await client.call('POST /events', { body: { type: 'invoice.paid', data: { no } } })
    await hear('run.failed', ({ run }) => run === sent.runs[0])
    runs.push(...sent.runs)
  }
  const open = async (transport: unknown) => {
    const agent = new Client({ name: 'a test', version: '1' })
    await agent.connect(transport as never)
    onTestFinished(() => agent.close())
    return agent
  }
  const overHttp = async (role: 'viewer' | 'operator' | 'admin', query = '') => {
    const { secret } = await client.call('POST /tokens', { body: { name: `agent-${role}`, role } })
    const requestInit = { headers: { authorization: `Bearer ${secret}` } }
    return open(new StreamableHTTPClientTransport(new URL(`${urls.admin}/mcp${query}`), { requestInit }))
  }
  const overStdio = (...args: string[]) =>
    open(
      new StdioClientTransport({
        command: process.execPath,
        args: [join(ROOT, 'src/cli/main.js'), 'mcp', ...args],
        env: { ...(CHILD_ENVIRONMENT as Record<string, string>), UPSHOT_DATA_DIR: dataDir },
        cwd: ROOT,
        stderr: 'inherit',
      }),
    )
  return { urls, dataDir, app, sandbox, client, runs, overHttp, overStdio }
}

type Agent = Awaited<ReturnType<Awaited<ReturnType<typeof startAgents>>['overHttp']>>

async function ask(agent: Agent, name: string, given: Record<string, unknown> = {}) {
  const { content, isError = false } = await agent.callTool({ name, arguments: given })
  const [{ text }] = content as [{ text: string }]
  return { isError, text, answer: isError ? null : JSON.parse(text) }
}

describe.each(['http', 'stdio'] as const)('an agent over %s', (door) => {
  test('finds why a run failed and what an event would start, and cannot delete', async () => {
    const { overHttp, overStdio, runs, sandbox } = await startAgents()
    const agent = door === 'http' ? await overHttp('operator') : await overStdio()
    const { tools } = await agent.listTools()
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
    const failed = await ask(agent, 'listRuns', { status: 'failed', limit: 1 })
    expect(failed.answer.items).toMatchObject([{ id: runs[2] }])
    const details = await ask(agent, 'getRunDetails', { id: runs[2] })
    expect(details.answer).toMatchObject({
      error: { message: expect.stringContaining('the ledger is closed'), step: 'book' },
    })
    const match = await ask(agent, 'matchEvent', { type: 'invoice.paid', data: { no: 4 }, reason: 'a look' })
    expect(match.isError).toBe(false)
    const { id } = await sandbox.storage('storage_a').put('/in/a.txt', 'four')
    const seen = { service: 'storage_a', id, path: '/in/a.txt', size: 4, modifiedAt: null }
    const deletion = await ask(agent, 'deleteFiles', { files: [seen], count: 1 })
    expect(deletion).toMatchObject({ isError: true, text: expect.stringMatching(/^forbidden: "deleteFiles" needs/) })
    expect((await ask(agent, 'retryRun', { id: runs[2] })).isError).toBe(true)
    expect((await ask(agent, 'addToken', { name: 'mine', role: 'admin' })).text).toContain('is for people')
    expect((await ask(agent, 'getRun', { id: 'run_none0000' })).text).toMatch(/^not_found: There is no run/)
    expect((await ask(agent, 'listRuns', { status: 'done' })).text).toMatch(/^invalid_request: .*status: /)
    expect(pathsIn(sandbox)).toContain('/in/a.txt')
  })

  test('acts where its role and its owner allow it, and hears how far a long operation has come', async () => {
    const { overHttp, overStdio, app } = await startAgents()
    const agent = door === 'http' ? await overHttp('operator', '?allow-writes') : await overStdio('--allow-writes')
    const { tools } = await agent.listTools()
    const named = (name: string) => tools.find((tool) => tool.name === name)
    expect(named('startOperation')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    expect(named('resolveRun')?.annotations).toMatchObject({ destructiveHint: false })
    for (const out of ['addToken', 'approveApproval', 'logIn', 'exportEffects', 'changeEndpoint']) {
      expect(named(out)).toBeUndefined()
    }
    const heard: number[] = []
    // With an answer, the client forgets the call's own listener before it tells it anything.
    agent.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void heard.push(params.progress))
    const given = { kind: 'resolve', filter: { status: 'failed' }, reason: 'booked by hand' }
    const done = await agent.callTool({ name: 'startOperation', arguments: given }, undefined, {
      onprogress: () => {},
    })
    const [{ text }] = done.content as [{ text: string }]
    expect(JSON.parse(text).operation).toMatchObject({ status: 'done', done: 3, refused: 0 })
    expect(heard.length).toBeGreaterThan(0)
    const [row] = await app.store.listActions({ limit: 1, action: 'operation.start' })
    expect(row).toMatchObject({ actor: door === 'http' ? 'token:agent-operator' : expect.stringMatching(/^cli:/) })
    expect(row?.reason).toBe('booked by hand')
  })
})

test('a viewer of an agent sees no payload, and no tool that acts', async () => {
  const { overHttp, client } = await startAgents()
  const agent = await overHttp('viewer', '?allow-writes')
  const { tools } = await agent.listTools()
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
  const [event] = (await client.call('GET /events', { query: { type: 'invoice.paid', limit: 1 } })).items
  expect((await ask(agent, 'getEvent', { id: event?.id })).answer.data).toEqual({ no: '‹number›' })
})

test.each([
  ['', true],
  ['=1', true],
  ['=true', true],
  ['=false', false],
  ['=0', false],
  ['=true&allow-writes=false', false],
])('the address "?allow-writes%s" offers tools that act: %s', async (value, offers) => {
  const { overHttp } = await startAgents()
  const { tools } = await (await overHttp('operator', `?allow-writes${value}`)).listTools()
  expect(tools.some(({ annotations }) => !annotations?.readOnlyHint)).toBe(offers)
})

test('the door for agents takes tokens alone, no foreign page, and only POST', async () => {
  const { urls, dataDir } = await startAgents()
  const post = async (headers: Record<string, string>, method = 'POST') => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
    return (await fetch(`${urls.admin}/mcp`, { method, headers: all, ...(method === 'POST' ? { body } : {}) })).status
  }
  const authorization = `Bearer ${readAdminToken(dataDir)}`
  expect(await post({ authorization })).toBe(200)
  expect(await post({})).toBe(401)
  expect(await post({ authorization: 'Bearer wrong' })).toBe(401)
  expect(await post({ authorization, origin: 'https://evil.example' })).toBe(403)
  expect(await post({ authorization }, 'GET')).toBe(405)
})

test('an event that is too large for an answer says how it is read, and is read in parts', async () => {
  const { client, overHttp } = await startAgents()
  const text = '"\u2028'.repeat(40_000)
  const { event, runs } = await client.call('POST /events', { body: { type: 'invoice.paid', data: { text } } })
  const agent = await overHttp('operator')
  const told = { data: null, dataNote: expect.stringContaining('larger than 64 KiB. An operator reads it by') }
  expect((await ask(agent, 'getEvent', { id: event })).answer).toMatchObject(told)
  expect((await ask(agent, 'getRunDetails', { id: runs[0] })).answer.event).toMatchObject(told)
  let read = ''
  for (let after = 0; after !== null; ) {
    const { answer } = await ask(agent, 'readEventData', { id: event, after })
    read += answer.text
    after = answer.next
  }
  expect(JSON.parse(read)).toEqual({ text })
  expect((await ask(await overHttp('viewer'), 'readEventData', { id: event })).text).toMatch(/^forbidden: /)
})

test('a request with parameters of another form is refused in words', async () => {
  const { urls, dataDir } = await startAgents()
  const headers = {
    authorization: `Bearer ${readAdminToken(dataDir)}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const told = 'expected string, received'
  for (const [method, params, fault] of [
    ['tools/call', undefined, 'params: Invalid input: expected object, received undefined'],
    ['tools/call', {}, `params.name: Invalid input: ${told} undefined`],
    ['tools/call', { name: 7 }, `params.name: Invalid input: ${told} number`],
    ['tools/call', { name: 'listRuns', arguments: 'all' }, /^MCP .* params.arguments: Invalid input: [^[]*$/],
    ['tools/list', { cursor: 7 }, `params.cursor: Invalid input: ${told} number`],
    ['initialize', { capabilities: {} }, /params.protocolVersion: [^[]*; params.clientInfo: [^[]*$/],
  ] as const) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const reply = await (await fetch(`${urls.admin}/mcp`, { method: 'POST', headers, body })).text()
    const message = typeof fault === 'string' ? expect.stringContaining(fault) : expect.stringMatching(fault)
    expect(JSON.parse(reply.slice(reply.indexOf('{'))).error).toEqual({ code: -32_602, message })
  }
})

test('a message of more than 10 MiB ends the command with a sentence', async () => {
  const { dataDir } = await startAgents()
  const child = spawn(process.execPath, [join(ROOT, 'src/cli/main.js'), 'mcp'], {
    env: { ...CHILD_ENVIRONMENT, UPSHOT_DATA_DIR: dataDir },
    cwd: ROOT,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  // It is gone before it has read all.
  child.stdin.on('error', () => {})
  child.stdin.write('x'.repeat(12_000_000))
  const [said, [code]] = await Promise.all([readText(child.stderr), once(child, 'exit')])
  expect(said).toContain('A message of the agent is larger than 10 MiB.')
  expect(said).not.toContain('await')
  expect(code).toBe(2)
})

test('a line that is no message gets the error of JSON-RPC, and the next message its answer', async () => {
  const { dataDir } = await startAgents()
  const child = spawn(process.execPath, [join(ROOT, 'src/cli/main.js'), 'mcp'], {
    env: { ...CHILD_ENVIRONMENT, UPSHOT_DATA_DIR: dataDir },
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  for (const [line, answer] of [
    ['{"jsonrpc": "2.0", ', { id: null, error: { code: -32_700 } }],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', { id: null, error: { code: -32_600 } }],
    ['[{"jsonrpc":"2.0","id":2,"method":"ping"}]', { id: null, error: { code: -32_600 } }],
    ['{"jsonrpc":"2.0","id":3,"method":"none/such"}', { id: 3, error: { code: -32_601 } }],
    ['{"jsonrpc":"2.0","id":4,"method":"ping"}', { id: 4, result: {} }],
  ] as const) {
    child.stdin.write(`${line}\n`)
    expect(JSON.parse(`${(await answers.next()).value}`)).toMatchObject({ jsonrpc: '2.0', ...answer })
  }
})
