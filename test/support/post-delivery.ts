import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { eventBody } from './fixtures.ts'

/** Delivers an event, signed with the scheme `hex`, on a connection of its own. */
export function postDelivery(url: string, secret: string, eventId: string, data?: object, type?: string) {
  const body = eventBody(eventId, type, data)
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Service-Signature': signature,
  }
  return new Promise<{ status: number; retryAfter: number }>((resolve, reject) => {
    request(url, { method: 'POST', agent: false, headers }, (response) => {
      const status = response.statusCode ?? 0
      const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN)
      text(response).then(() => resolve({ status, retryAfter }), reject)
    })
      .on('error', reject)
      .end(body)
  })
}
