import { execFileSync, spawn } from 'node:child_process'
import { createServer, get } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect, Socket } from 'node:net'
import { Worker as Thread } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { RunContext } from '../../../../src/author/index.ts'
import { Outside } from '../../../../src/engine/pass/outside/outside.ts'
import { loadWatched } from '../../../../src/engine/pass/outside/watch-effects.ts'
import { createFilesClient } from '../../../../src/files/index.ts'
import { testbed } from '../../../../src/testing/testbed.ts'
import { listen } from '../../../support/listen.ts'
import { createTestEngine, type TestEngine } from '../../../support/test-engine.ts'
import { define } from '../../../support/workflows.ts'

async function openServer(): Promise<string> {
  const server = createServer((_request, response) => response.end('ok'))
  return `${await listen(server)}/`
}

type OutsideOptions = Omit<ConstructorParameters<typeof Outside>[0], 'publish' | 'clock' | 'store'>

function openOutside({ store, clock, notices: { publish } }: TestEngine, parts: OutsideOptions = {}): Outside {
  return new Outside({ store, clock, publish, ...parts })
}

/** The calls that a run of this code is told of. */
async function tell(run: (context: RunContext, url: string) => Promise<unknown>, parts: OutsideOptions = {}) {
  const url = await openServer()
  const engine = createTestEngine()
  const outside = openOutside(engine, parts)
  await engine.start([define('w', (context) => run(context, url))], { outside })
  expect((await engine.run('w')).status).toBe('completed')
  return engine.heard.filter((notice) => notice.kind === 'code.undeclared')
}

const read = async (url: string, init?: RequestInit) => (await fetch(url, init)).text()

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
  await engine.start([define('w', run)], {
    outside: openOutside(engine, { isServiceHost }),
  })
  expect((await engine.run('w')).status).toBe('completed')
  const place = expect.stringMatching(/watch-effects\.test\.ts:\d+:\d+$/)
  expect(engine.heard.filter((notice) => notice.kind === 'code.undeclared')).toMatchObject([
    { call: 'fetch DELETE', step: 'remove', where: 'past_files', place },
    { call: 'http GET', step: 'ask', where: 'past_files', place },
  ])
})

test('every way out of a step is told, once for each run and kind in the ledger, with its host and place', async () => {
  const service = await openServer()
  const port = Number(new URL(service).port)
  const host = new URL(service).host
  const engine = createTestEngine()
  const client = createFilesClient({ baseUrl: `${service}v1`, apiKey: 'sk_of_another_client', retry: { attempts: 1 } })
  const closed = (socket: Socket) => new Promise<void>((done) => void socket.on('close', () => done()).resume())
  const ways: Record<string, () => unknown> = {
    socket: () =>
      closed(
        connect(port, '127.0.0.1', function (this: Socket) {
          this.end()
        }),
      ),
    'socket of its own': () => {
      const socket = new Socket()
      socket.connect({ port, host: '127.0.0.1' }, () => socket.end())
      return closed(socket)
    },
    http2: async () => {
      const session = connectHttp2(service).on('error', () => {})
      const stream = session.request({ ':method': 'DELETE', ':path': '/v1/files/1' }).on('error', () => {})
      await new Promise((done) => stream.on('close', done))
      session.destroy()
    },
    fetch: () => read(`${service}v1/files/1?secret=hush`, { method: 'DELETE' }),
    'files client': () => client.get({ service: 'storage_a', id: '1' }).catch(() => {}),
    spawn: () => new Promise((done) => spawn(process.execPath, ['-e', '']).on('close', done)),
    spawnSync: () => execFileSync(process.execPath, ['-e', '']),
    thread: () => new Promise((done) => new Thread('', { eval: true }).on('exit', done)),
  }
  const run = async ({ step }: RunContext) => {
    for (const [name, go] of Object.entries(ways)) await step.run(name, async () => void (await go()))
  }
  const outside = openOutside(engine, { isServiceHost: (asked) => asked === host })
  await engine.start([define('w', run)], { outside })
  const done = await engine.run('w')
  expect(done.error).toBeNull()
  await outside.settled()
  const rows = await engine.store.listEffects({ runId: done.id, phases: ['noted'], limit: 99 })
  const told = rows.toReversed().map(({ step, operation, outcome, target }) => [step, operation, outcome, target])
  expect(told).toEqual([
    ['socket', 'connect', 'past_files', host],
    ['http2', 'http2 DELETE', 'past_files', host],
    ['fetch', 'fetch DELETE', 'past_files', host],
    ['files client', 'createFilesClient GET', 'past_files', host],
    ['spawn', 'child process', 'unseen', null],
    ['thread', 'worker thread', 'unseen', null],
  ])
  expect(
    rows.every(({ proof, step }) => step === 'files client' || /watch-effects\.test\.ts:\d+/.test(proof ?? '')),
  ).toBe(true)
  expect(JSON.stringify([rows, engine.heard])).not.toMatch(/hush|sk_of_another/)
  // In the log, each place has a line of its own: a session of HTTP/2 has one beside its request.
  const places = engine.heard.filter(({ kind }) => kind === 'code.undeclared')
  expect(places).toHaveLength(Object.keys(ways).length + 1)
})

test('a workflow that the project names may start processes and threads in its steps, and not outside', async () => {
  const start = () => execFileSync(process.execPath, ['-e', ''])
  const told = await tell(
    async ({ step }) => {
      await step.run('convert', () => void start())
      await step.run('probe', () => void start(), { effect: 'read' })
      start()
    },
    { processes: ['w'] },
  )
  expect(told).toMatchObject([{ call: 'child process', where: 'outside', step: null }])
})

test('a delete by a client of the code’s own is refused before anything is sent', async () => {
  const service = await openServer()
  const engine = createTestEngine()
  const client = createFilesClient({ baseUrl: `${service}v1`, apiKey: 'sk_of_another_client' })
  const run = ({ step }: RunContext) =>
    step.run('delete', () => client.delete({ service: 'storage_a', id: '1' }), { retry: { attempts: 1 } })
  const outside = openOutside(engine, { isServiceHost: (host) => host === new URL(service).host, tells: false })
  await engine.start([define('w', run)], { outside })
  expect(await engine.run('w')).toMatchObject({
    status: 'failed',
    error: { message: expect.stringMatching(/past the guard and the ledger.*`files` of the run/) },
  })
  await outside.settled()
  expect(await engine.store.listEffects({ phases: ['noted'], limit: 9 })).toMatchObject([
    { operation: 'createFilesClient DELETE', outcome: 'refused', step: 'delete' },
  ])
})

test('a module that acts by itself is told when it is loaded, and later', async () => {
  const url = await openServer()
  const engine = createTestEngine()
  const outside = openOutside(engine)
  const later = Promise.withResolvers<unknown>()
  await engine.start([], { outside })
  await loadWatched(outside, async () => {
    await read(url)
    setTimeout(() => fetch(url, { method: 'POST' }).then(later.resolve, later.reject), 1)
  })
  await later.promise
  expect(engine.heard.filter(({ kind }) => kind === 'code.undeclared')).toMatchObject([
    { call: 'fetch GET', where: 'on_load', run: null, workflow: null },
    { call: 'fetch POST', where: 'on_load' },
  ])
  await read(url)
  expect(engine.heard.filter(({ kind }) => kind === 'code.undeclared')).toHaveLength(2)
})

test('nothing is told where it is not asked for', async () => {
  expect(await tell((_context, url) => read(url), { tells: false })).toEqual([])
})

test('the testbed warns of it, as Node warns', async () => {
  const url = await openServer()
  const warnings: Error[] = []
  const listen = (warning: Error) => warnings.push(warning)
  process.on('warning', listen)
  onTestFinished(() => void process.off('warning', listen))
  await using t = await testbed({
    workflows: [define('w', { on: 'go' }, () => read(url, { method: 'PUT' }))],
  })
  await t.send('go')
  await new Promise((done) => setImmediate(done))
  const [warning] = warnings.filter((each) => 'code' in each && each.code === 'UPSHOT_EFFECT')
  expect(warning?.message).toMatch(/"w" calls fetch PUT outside steps at .*watch-effects\.test\.ts:\d+/)
})
