import { createServer, get } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import type { RunContext } from '../../../../src/author/index.ts'
import { testbed } from '../../../../src/testing/testbed.ts'
import { createTestEngine } from '../../../support/test-engine.ts'

async function openServer(): Promise<string> {
  const server = createServer((_request, response) => response.end('ok'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** The calls that a run of this code is told of. */
async function tell(run: (context: RunContext, url: string) => Promise<unknown>, tellsEffects = true) {
  const url = await openServer()
  const engine = createTestEngine()
  await engine.start([defineWorkflow({ id: 'w', on: '*', run: (context) => run(context, url) })], { tellsEffects })
  expect((await engine.run('w')).status).toBe('completed')
  return engine.heard.filter((notice) => notice.kind === 'code.undeclared')
}

const read = async (url: string, init?: RequestInit) => (await fetch(url, init)).text()

test('a request and a connection outside steps are told, once for each place, with file and line', async () => {
  const told = await tell(async (_context, url) => {
    for (let turn = 0; turn < 2; turn++) await read(url)
    const { port } = new URL(url)
    await new Promise<void>((done) => connect(Number(port), '127.0.0.1', done).end())
  })
  expect(told).toMatchObject([
    {
      call: 'fetch GET',
      step: null,
      where: 'outside',
      place: expect.stringMatching(/watch-effects\.test\.ts:\d+:\d+$/),
    },
    { call: 'connect', step: null, where: 'outside', place: expect.stringMatching(/watch-effects\.test\.ts:\d+:\d+$/) },
  ])
})

test('a step that declares what it does is told of nothing', async () => {
  const told = await tell(async ({ step }, url) => {
    await step.run('write', () => read(url, { method: 'POST' }))
    await step.run('read', () => read(url), { effect: 'read' })
  })
  expect(told).toEqual([])
})

test('a write in a step that reads, and a call after the end of its step, are told with the step', async () => {
  const told = await tell(async ({ step }, url) => {
    await step.run('look', () => read(url, { method: 'POST' }), { effect: 'read' })
    const late = Promise.withResolvers<unknown>()
    await step.run('leak', () => {
      setTimeout(() => read(url).then(late.resolve, late.reject), 5)
    })
    await late.promise
  })
  expect(told).toMatchObject([
    { call: 'fetch POST', step: 'look', where: 'in_read' },
    { call: 'fetch GET', step: 'leak', where: 'after' },
  ])
})

test('a request to the service past `files` is told in any step, and one to another host is not', async () => {
  const [service, other] = [await openServer(), await openServer()]
  const engine = createTestEngine()
  const run = async ({ step }: RunContext) => {
    await step.run('remove', () => read(`${service}files/1`, { method: 'DELETE' }))
    await step.run(
      'ask',
      () => new Promise<void>((done) => get(service, (answer) => answer.resume().on('end', done))),
      { effect: 'read' },
    )
    await step.run('tell', () => read(other, { method: 'POST' }))
  }
  const isServiceHost = (host: string) => host === new URL(service).host
  await engine.start([defineWorkflow({ id: 'w', on: '*', run })], { tellsEffects: true, isServiceHost })
  expect((await engine.run('w')).status).toBe('completed')
  const place = expect.stringMatching(/watch-effects\.test\.ts:\d+:\d+$/)
  expect(engine.heard.filter((notice) => notice.kind === 'code.undeclared')).toMatchObject([
    { call: 'fetch DELETE', step: 'remove', where: 'past_files', place },
    { call: 'http GET', step: 'ask', where: 'past_files', place },
  ])
})

test('nothing is told where it is not asked for', async () => {
  expect(await tell((_context, url) => read(url), false)).toEqual([])
})

test('the testbed warns of it, as Node warns', async () => {
  const url = await openServer()
  const warnings: Error[] = []
  const listen = (warning: Error) => warnings.push(warning)
  process.on('warning', listen)
  onTestFinished(() => void process.off('warning', listen))
  await using t = await testbed({
    workflows: [defineWorkflow({ id: 'w', on: 'go', run: () => read(url, { method: 'PUT' }) })],
  })
  await t.send('go')
  await new Promise((done) => setImmediate(done))
  const [warning] = warnings.filter((each) => 'code' in each && each.code === 'UPSHOT_EFFECT')
  expect(warning?.message).toMatch(/"w" calls fetch PUT outside steps at .*watch-effects\.test\.ts:\d+/)
})
