import { expect, test } from 'vitest'
import { eventBody } from '../support/fixtures.ts'
import { openRaw } from '../support/raw-http.ts'
import { opensslHmac } from '../support/sign.ts'
import { createTestReceiver, SECRET } from '../support/test-receiver.ts'

const body = eventBody('evt_1')
const signature = opensslHmac(SECRET, body)
const chunk = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`

/** Sends a genuine delivery with these lines and this version; the head of the answer. */
async function send(version: string, lines: string[], content: string) {
  const { url, path, store } = await createTestReceiver()
  const connection = await openRaw(url)
  const head = ['Content-Type: application/json', `X-Service-Signature: ${signature}`, ...lines].join('\r\n')
  await connection.write(`POST ${path} HTTP/${version}\r\n${head}\r\n\r\n${content}`)
  const answer = await connection.answer
  if (!answer.includes(' 200 ')) await connection.closed
  return { answer, events: await store.listEvents({ limit: 1 }) }
}

const LENGTH = `Content-Length: ${Buffer.byteLength(body)}`

test.each<[string, string, string[], string]>([
  ['the transfer codings gzip and chunked', '1.1', ['Host: x', 'Transfer-Encoding: gzip, chunked'], chunk],
  ['chunked twice', '1.1', ['Host: x', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], chunk],
  ['the transfer coding identity', '1.1', ['Host: x', 'Transfer-Encoding: identity'], body],
  ['a transfer coding in HTTP/1.0', '1.0', ['Host: x', 'Transfer-Encoding: chunked'], chunk],
  ['two hosts', '1.1', ['Host: x', 'Host: y', LENGTH], body],
  ['the same host twice', '1.1', ['Host: x', 'host: x', LENGTH], body],
  ['no host', '1.1', [LENGTH], body],
  ['HTTP/2.0 in its first line', '2.0', ['Host: x', LENGTH], body],
  ['HTTP/0.9 in its first line', '0.9', ['Host: x', LENGTH], body],
  ['HTTP/1.2 in its first line', '1.2', ['Host: x', LENGTH], body],
])('a genuine delivery with %s is answered 400 and its connection closed', async (_what, version, lines, content) => {
  const { answer, events } = await send(version, lines, content)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(events).toEqual([])
})

test.each<[string, string, string[], string]>([
  ['plain chunks', '1.1', ['Host: x', 'Transfer-Encoding: Chunked'], chunk],
  ['HTTP/1.0 and a length', '1.0', [LENGTH], body],
])('a genuine delivery with %s is accepted', async (_what, version, lines, content) => {
  expect((await send(version, lines, content)).answer).toMatch(/^HTTP\/1\.1 200 /)
})
