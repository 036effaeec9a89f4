import { createServer } from 'node:http'
import http2 from 'node:http2'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../src/core/time.ts'
import { listen } from '../../support/listen.ts'
import { openZoo } from './open-zoo.ts'

/** A way to ask another program in a step that reads. `H`: a server of HTTP/2. */
interface Way {
  name: string
  /** The body of the step's function. */
  code: string
  /** The refused call; null: it passes. */
  call: string | null
  /** The request that arrives where the call passes; absent: none can. */
  arrives?: string
  /** Whether it is refused even where reads are trusted. */
  isAlwaysRefused?: boolean
}

const promise = (what: string) => `return new Promise((done, fail) => { ${what} })`
const head = (path: string) => `'POST /${path} HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\n\\r\\n'`
const talk = (path: string) => `socket.on('error', fail).on('close', done).resume().write(${head(path)})`
const ask = (given: string) =>
  promise(`http.request(${given}, (response) => response.resume().on('end', done)).on('error', fail).end()`)
const http2Ask = (headers: string) =>
  promise(`
  const session = http2.connect(H)
  session.on('error', fail)
  const stream = session.request(${headers})
  stream.on('error', fail).on('close', () => session.close(done)).resume().end()`)
const undici = JSON.stringify(createRequire(import.meta.url).resolve('undici'))
const client = `const { Client } = createRequire(import.meta.url)(${undici})
  const client = new Client(U.slice(0, -1))`

const WAYS: Way[] = [
  { name: 'fetch', code: `await fetch(U + 'a')`, call: null, arrives: 'GET /a' },
  { name: 'fetch HEAD', code: `await fetch(U + 'b', { method: 'head' })`, call: null, arrives: 'HEAD /b' },
  { name: 'fetch OPTIONS', code: `await fetch(U + 'c', { method: 'OPTIONS' })`, call: null, arrives: 'OPTIONS /c' },
  { name: 'fetch POST', code: `await fetch(U + 'd', { method: 'POST' })`, call: 'fetch POST', arrives: 'POST /d' },
  { name: 'http', code: ask(`U + 'e'`), call: null, arrives: 'GET /e' },
  { name: 'http PUT', code: ask(`U + 'f', { method: 'PUT' }`), call: 'http PUT', arrives: 'PUT /f' },
  {
    name: 'http with a pool of one connection',
    code: `const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      const get = () => { ${ask(`U + 'g', { agent }`)} }
      await Promise.all([get(), get()])`,
    call: null,
    arrives: 'GET /g',
  },
  {
    name: 'http on a connection of its own',
    code: ask(`U + 'h', { createConnection: (to) => net.connect(to) }`),
    call: null,
    arrives: 'GET /h',
  },
  {
    name: 'https',
    code: promise(`https.get(U.replace('http', 'https'), done).on('error', done)`),
    call: null,
  },
  { name: 'http2', code: http2Ask(`{ ':path': '/i' }`), call: null, arrives: 'GET /i' },
  {
    name: 'http2 POST',
    code: http2Ask(`{ ':path': '/j', ':method': 'POST' }`),
    call: 'http2 POST',
    arrives: 'POST /j',
  },
  {
    name: 'http2 POST of a flat list',
    code: http2Ask(`[':path', '/j2', ':method', 'POST', ':scheme', 'http', ':authority', 'a']`),
    call: 'http2 POST',
    arrives: 'POST /j2',
  },
  {
    name: 'the package undici',
    code: `${client}
      await (await client.request({ path: '/k', method: 'GET' })).body.text()`,
    call: null,
    arrives: 'GET /k',
  },
  {
    name: 'the package undici with DELETE',
    code: `${client}
      await (await client.request({ path: '/l', method: 'DELETE' })).body.text()`,
    call: 'connection DELETE',
    arrives: 'DELETE /l',
  },
  {
    name: 'the package undici with POST on a connection that is open',
    code: `${client}
      await (await client.request({ path: '/m', method: 'GET' })).body.text()
      await (await client.request({ path: '/n', method: 'POST' })).body.text()`,
    call: 'connection POST',
    arrives: 'POST /n',
  },
  {
    name: 'the pool of fetch, by hand',
    code: `await fetch(U + 'o')
      const pool = globalThis[Symbol.for('undici.globalDispatcher.1')]
      await new Promise((done, fail) => pool.dispatch({ origin: U.slice(0, -1), path: '/p', method: 'POST' }, {
        onConnect() {}, onHeaders: () => true, onData: () => true, onComplete: done, onError: fail }))`,
    call: 'connection POST',
    arrives: 'POST /p',
  },
  {
    name: 'a raw connection',
    code: promise(`const socket = net.connect(P, '127.0.0.1'); ${talk('q')}`),
    call: 'connection POST',
    arrives: 'POST /q',
  },
  {
    name: 'a raw connection of an agent',
    code: promise(`const socket = new http.Agent().createConnection({ port: P, host: '127.0.0.1' }); ${talk('r')}`),
    call: 'connection POST',
    arrives: 'POST /r',
  },
  {
    name: 'a raw connection that asks first',
    code: promise(`const socket = net.connect(P, '127.0.0.1')
      socket.on('error', fail).on('close', done).resume()
      socket.write('GET /r1 HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n' + ${head('r2')})`),
    call: 'connection POST',
    arrives: 'POST /r2',
  },
  {
    name: 'a raw connection whose method comes in pieces',
    code: promise(`const socket = net.connect(P, '127.0.0.1')
      socket.on('error', fail).on('close', done).resume().cork()
      socket.write('PO')
      socket.write('ST' + ${head('r3')}.slice(4))
      socket.uncork()`),
    call: 'connection POST',
    arrives: 'POST /r3',
  },
  {
    name: 'a raw connection that asks in pieces',
    code: promise(`const socket = net.connect(P, '127.0.0.1')
      socket.on('error', fail).on('close', done).resume()
      for (const part of ['G', 'ET /r4 HTTP/1.1\\r\\nconnection: close\\r\\n', 'host: a\\r\\n\\r', '\\n'])
        socket.write(part)`),
    call: null,
    arrives: 'GET /r4',
  },
  {
    name: 'the words of a database',
    code: promise(`const socket = net.connect(P, '127.0.0.1')
      socket.on('error', fail).on('close', done).resume().end(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))`),
    call: 'connection bytes',
  },
  {
    name: 'a raw connection of TLS',
    code: promise(`tls.connect(P, '127.0.0.1').on('error', done)`),
    call: null,
  },
  {
    name: 'UDP',
    code: promise(`dgram.createSocket('udp4').send('s', P, '127.0.0.1', done)`),
    call: 'dgram.send',
    arrives: 'udp s',
  },
  { name: 'a query of names', code: promise(`new dns.Resolver().resolve4('', done)`), call: 'dns.Resolver.resolve4' },
  {
    name: 'WebSocket',
    code: promise(`new WebSocket(U.replace('http', 'ws') + 't').onerror = done`),
    call: 'WebSocket',
    arrives: 'GET /t',
  },
  { name: 'a file', code: `fs.writeFileSync(D + '/new', 'x')`, call: 'file write', isAlwaysRefused: true },
  { name: 'a process', code: `child.execFileSync('true')`, call: 'child process', isAlwaysRefused: true },
  { name: 'a signal', code: `process.kill(process.ppid, 0)`, call: 'process.kill', isAlwaysRefused: true },
  { name: 'a server', code: `net.createServer().listen(0)`, call: 'net.Server.listen', isAlwaysRefused: true },
  {
    name: 'a database',
    code: `new sqlite.DatabaseSync(D + '/new.db')`,
    call: 'sqlite',
    isAlwaysRefused: true,
  },
]

/** A server of HTTP/2 that notes each request. */
async function openHttp2() {
  const reached: string[] = []
  const server = http2.createServer((request, response) => {
    reached.push(`${request.method} ${request.url}`)
    response.end('ok')
  })
  return { reached, url: await listen(server) }
}

test.each([
  ['a read sends GET, HEAD and OPTIONS by any client, and all else is refused and named', false],
  ['a read that is trusted sends anything, and does nothing else', true],
])('%s', async (_, trustsReads) => {
  const other = await openHttp2()
  const animals = WAYS.map(({ name, code }) => ({
    name,
    call: null,
    code: `const H = '${other.url}'
      await step.run('look', async () => { ${code}; return 1 }, { effect: 'read', retry: { attempts: 1 } })`,
  }))
  const { plan, readWorld } = await openZoo({ animals, trustsReads })
  const reached = () => [...readWorld().reached, ...other.reached]
  for (const [index, { name, call, arrives, isAlwaysRefused = false }] of WAYS.entries()) {
    const { undeclared } = await plan(`zoo-${index}`)
    const isRefused = call !== null && (isAlwaysRefused || !trustsReads)
    expect([...new Set(undeclared.map((each) => each.call))], name).toEqual(isRefused ? [call] : [])
    if (isRefused) expect(undeclared[0], name).toMatchObject({ where: 'in_read', step: 'look' })
    if (arrives === undefined) continue
    if (isRefused) expect(reached(), name).not.toContain(arrives)
    else await expect.poll(reached, { message: name }).toContain(arrives)
  }
  expect(readWorld().files).toEqual([['kept', 'as it was']])
})

test('a read takes longer than the isolated process waits for an answer, and its plan completes', async () => {
  const begun = Promise.withResolvers<() => void>()
  const server = createServer((_, response) => begun.resolve(() => response.end('7')))
  const url = `${await listen(server)}/`
  const code = `return step.run('ask', async () => (await fetch('${url}')).text(), { effect: 'read' })`
  const clock = new ManualClock()
  const { plan } = await openZoo({ animals: [{ name: 'slow', code, call: null }], clock })
  const planned = plan('zoo-0')
  const answer = await begun.promise
  for (let n = 0; n < 4; n++) {
    clock.advance('20s')
    // The isolated process has told since then that it lives.
    await expect.poll(() => clock.nextAt(), { interval: 20 }).toBe(clock.now() + 30_000)
  }
  answer()
  expect((await planned).end).toEqual({ kind: 'completed', output: '"7"' })
})
