import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, test } from 'vitest'
import { rawTransport } from '../../../src/files/http/raw-transport.ts'
import type { HttpReply } from '../../../src/files/http/transport.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { sha256, someBytes } from '../support/download-host.ts'
import { errorOf } from '../support/test-client.ts'

async function listen(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** A server that answers the first bytes of each connection as it is told, byte for byte. */
function serve(respond: (socket: Socket, request: string) => void) {
  return listen(
    createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (request) => respond(socket, request.toString()))
    }),
  )
}

function get(port: number, options: { headers?: Record<string, string>; signal?: AbortSignal; tls?: boolean } = {}) {
  const { headers = {}, signal = new AbortController().signal, tls = false } = options
  const url = new URL(`${tls ? 'https' : 'http'}://localhost:${port}/bytes?signature=x`)
  return rawTransport({ method: 'GET', url, headers, signal, onConnected: () => {} })
}

async function readAll({ body, release }: HttpReply): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for (;;) {
    const { done, value } = await body.next()
    if (done) return Buffer.concat(parts)
    parts.push(value.slice())
    release(value)
  }
}

/** Sends each byte in a packet of its own. */
async function trickle(socket: Socket, text: string): Promise<void> {
  socket.setNoDelay(true)
  for (const character of text) {
    socket.write(character, 'latin1')
    await turn()
  }
}

test.each([
  ['of known length', 'Content-Length: 11\r\n\r\nhello world'],
  ['of known length with more behind it', 'Content-Length: 11\r\n\r\nhello worldHTTP/1.1 200 OK'],
  ['of known length, from a server of old', 'X-Old: HTTP/1.0\r\nContent-Length: 11\r\n\r\nhello world'],
  ['whose header goes on in the next line', 'X-Folded: a\r\n\t b\r\nContent-Length: 11\r\n\r\nhello world'],
  ['in chunks with more behind them', 'Transfer-Encoding: Chunked\r\n\r\nB \r\nhello world\r\n0\r\n\r\n5\r\nhello\r\n'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;note="x"\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n'],
])('a body %s is read, however it is cut into packets', async (_name, rest) => {
  const response = `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\nX-A:2 \r\n${rest}`
  await using whole = await serve((socket) => socket.write(response))
  await using bytewise = await serve((socket) => void trickle(socket, response))
  for (const { port } of [whole, bytewise]) {
    const reply = await get(port)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-a')).toBe('1, 2')
    expect(String(await readAll(reply))).toBe('hello world')
  }
})

test('a body that ends with its connection is an error when that breaks', async () => {
  await using server = await serve((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\nhello', () => socket.resetAndDestroy())
  })
  const reply = await get(server.port).catch((error: unknown) => error)
  expect(reply instanceof Error ? reply : await errorOf(readAll(reply as HttpReply))).toMatchObject({
    code: 'ECONNRESET',
  })
})

test.each(['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 204 No Content\r\n\r\n'])(
  'an empty body ends at once: %j',
  async (response) => {
    await using server = await serve((socket) => socket.write(response))
    expect(String(await readAll(await get(server.port)))).toBe('')
  },
)

test.each([
  ['short of its length', 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello'],
  ['without its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ['with a size in words', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\nhello\r\n'],
  ['with a chunk that ends too soon', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello\r\n0\r\n\r\n'],
  ['with a size that hides another', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r0\r\nhello\r\n0\r\n\r\n'],
  ['with a size that is no number', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n'],
  ['with a size beyond all files', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\nhello'],
  ['with a size line without end', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;${'x'.repeat(5_000)}`],
  ['with a chunk that goes on too long', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n'],
])('a body %s is an error', async (_name, response) => {
  await using server = await serve((socket) => socket.end(response))
  const reply = await get(server.port).catch((error: unknown) => error)
  expect(reply instanceof Error ? reply : await errorOf(readAll(reply as HttpReply))).toBeInstanceOf(Error)
})

test('a body of any size takes no more memory than its reader returns', async () => {
  const content = someBytes(6_000_000)
  await using server = await serve((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n\r\n`)
    socket.write(content)
  })
  const reply = await get(server.port)
  const parts: Buffer[] = []
  const buffers = new Set<ArrayBufferLike>()
  const held: Uint8Array[] = []
  for (;;) {
    const { done, value } = await reply.body.next()
    if (done) break
    buffers.add(value.buffer)
    parts.push(Buffer.from(value))
    held.push(value)
    // Keeps as many chunks as it can without stopping the flow.
    if (held.length > 5) for (const old of held.splice(0, 3)) reply.release(old)
    for (let turns = 0; turns < 3; turns++) await turn()
  }
  expect(sha256(Buffer.concat(parts))).toBe(sha256(content))
  expect(buffers.size).toBeLessThanOrEqual(8)
})

test.each([
  ['of another protocol', 'SSH-2.0-OpenSSH_9\r\n\r\n'],
  ['with a malformed header', 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'],
  ['with two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello'],
  ['with the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello'],
  [
    'with a length and chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  ],
  ['with a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello'],
  ['with a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello'],
  ['with a name that is no token', 'HTTP/1.1 200 OK\r\nX(y: 1\r\nContent-Length: 5\r\n\r\nhello'],
  ['with a stray return in a header', 'HTTP/1.1 200 OK\r\nX-A: 1\rX-B: 2\r\nContent-Length: 5\r\n\r\nhello'],
  ['in two codings', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
  ['that only announces itself, again and again', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(4_000)],
  ['in an unknown coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello'],
  ['whose head never ends', `HTTP/1.1 200 OK\r\n${'X-Long: y\r\n'.repeat(9_000)}`],
  ['that switches protocols', 'HTTP/1.1 101 Switching\r\n\r\n'],
  ['that does not come', ''],
])('a response %s is an error', async (_name, response) => {
  await using server = await serve((socket) => (response === '' ? socket.end() : socket.write(response)))
  expect(await errorOf(get(server.port))).toBeInstanceOf(Error)
})

test('a request names its host, asks to close the connection, and carries its headers', async () => {
  const seen = Promise.withResolvers<string>()
  await using server = await serve((socket, request) => {
    seen.resolve(request)
    socket.end('HTTP/1.1 204 No Content\r\n\r\n')
  })
  await get(server.port, { headers: { range: 'bytes=5-' } })
  expect((await seen.promise).split('\r\n')).toEqual([
    'GET /bytes?signature=x HTTP/1.1',
    `host: localhost:${server.port}`,
    'range: bytes=5-',
    'connection: close',
    '',
    '',
  ])
})

test('a header that would smuggle in another is not sent', async () => {
  await using server = await serve(() => {})
  const error = await errorOf(get(server.port, { headers: { 'if-range': '"a"\r\nX-Evil: 1' } }))
  expect(error).toMatchObject({ message: expect.stringContaining('cannot be sent') })
})

test('a file is read over TLS, and only from a host that its certificate names', async () => {
  const folder = tempFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert, ...subject],
    { stdio: 'ignore' },
  )
  const content = someBytes(3_000_000)
  const tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n\r\n`)
      socket.write(content)
    })
  })
  await using server = await listen(tls)
  expect(await errorOf(get(server.port, { tls: true }))).toMatchObject({ code: expect.stringMatching(/CERT/) })

  const before = getCACertificates('default')
  setDefaultCACertificates([...before, readFileSync(cert, 'utf8')])
  try {
    expect(sha256(await readAll(await get(server.port, { tls: true })))).toBe(sha256(content))
    const stranger = new URL(`https://127.0.0.1:${server.port}/`)
    const signal = new AbortController().signal
    const misnamed = rawTransport({ method: 'GET', url: stranger, headers: {}, signal, onConnected: () => {} })
    expect(await errorOf(misnamed)).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  } finally {
    setDefaultCACertificates(before)
  }
})
