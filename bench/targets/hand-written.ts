import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { z } from 'zod'
import { SECRET } from '../deliveries.ts'

const event = z.looseObject({
  id: z.string().startsWith('evt_'),
  type: z.string().min(1),
  created: z.iso.datetime({ offset: true }),
  data: z.record(z.string(), z.unknown()),
})
const ANSWER = JSON.stringify({ received: true })

/**
 * A webhook receiver written by hand: Express, HMAC over the raw bytes, JSON, a schema. Answers 200
 * once `keep` has stored a signed event; returns its URL.
 */
export function listenByHand(keep: (id: string, body: string) => Promise<void> | null): Promise<string> {
  const app = express().disable('x-powered-by').disable('etag')
  app.post('/hooks/:path', async (request, response) => {
    const status = await receive(request, keep)
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': ANSWER.length }).end(ANSWER)
  })
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/plain`),
    )
  })
}

async function receive(request: IncomingMessage, keep: Parameters<typeof listenByHand>[0]): Promise<number> {
  const bytes = await readBytes(request)
  if (!isSigned(bytes, request.headers['x-service-signature'])) return 401
  const body = bytes.toString()
  const id = readEventId(body)
  if (id === null) return 400
  const kept = keep(id, body)
  if (kept) await kept
  return 200
}

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

function readEventId(body: string): string | null {
  try {
    return event.safeParse(JSON.parse(body)).data?.id ?? null
  } catch {
    return null
  }
}
