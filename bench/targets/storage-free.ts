import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { z } from 'zod'
import { SECRET } from '../deliveries.ts'
import { answerCalls } from './answer-calls.ts'

/**
 * What one writes by hand to take webhooks and keep nothing: Express, an HMAC over the raw bytes, JSON, a schema. It
 * shares no code with the receiver, and takes the quick way everywhere: no body parser, no `response.json`.
 */
const event = z.looseObject({
  id: z.string().startsWith('evt_'),
  type: z.string().min(1),
  created: z.iso.datetime({ offset: true }),
  data: z.record(z.string(), z.unknown()),
})
const ANSWER = JSON.stringify({ received: true })

const app = express().disable('x-powered-by').disable('etag')
app.post('/hooks/:path', async (request, response) => {
  const body = await readBytes(request)
  const status = isSigned(body, request.headers['x-service-signature']) ? judgeBody(body) : 401
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': ANSWER.length }).end(ANSWER)
})

function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
  })
}

function isSigned(body: Buffer, signature: string | string[] | undefined): boolean {
  const expected = createHmac('sha256', SECRET).update(body).digest()
  const given = Buffer.from(typeof signature === 'string' ? signature : '', 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function judgeBody(body: Buffer): number {
  try {
    return event.safeParse(JSON.parse(body.toString())).success ? 200 : 400
  } catch {
    return 400
  }
}

answerCalls({
  start: () =>
    new Promise<string>((resolve) => {
      const server = app.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/plain`),
      )
    }),
})
