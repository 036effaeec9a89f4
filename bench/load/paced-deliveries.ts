import { createHmac } from 'node:crypto'
import { type Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPE, makeDelivery, SECRET } from '../deliveries.ts'

/** Time between two deliveries, each on a connection of its own. */
export const PACE_MS = 5

/** The variables of a service that nobody answers for, with the secret of the deliveries. */
export const SERVICE = {
  /** The key of every database here: some are filled before their app starts. */
  UPSHOT_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  SERVICE_BASE_URL: 'https://service.invalid/v1',
  SERVICE_API_KEY: 'key-of-no-service',
  SERVICE_WEBHOOK_SECRET: SECRET,
  SERVICE_STORAGE_A: 'a',
  SERVICE_STORAGE_B: 'b',
  SERVICE_STORAGE_C: 'c',
}

/** Sends a delivery every 5 ms; the milliseconds from each request to its 200. */
export async function sendPaced(url: string, agent: Agent, count: number): Promise<number[]> {
  const times: Promise<number>[] = []
  for (let sent = 0; sent < count; sent++) {
    times.push(deliver(url, agent, EVENT_TYPE))
    await sleep(PACE_MS)
  }
  return Promise.all(times)
}

/**
 * Milliseconds from a request to its 200; rejects for any other answer. Where an idle connection is
 * closed just as it is used, it sends again, as senders do.
 */
export function deliver(url: string, agent: Agent, type: string): Promise<number> {
  const body = makeDelivery().body.replace(`"${EVENT_TYPE}"`, `"${type}"`)
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature }
  const begunAt = performance.now()
  return new Promise((resolve, reject) => {
    const send = () => {
      const sending = request(url, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve(performance.now() - begunAt)
          else reject(new Error(`a delivery was answered ${response.statusCode}`))
        })
      })
      sending.on('error', (error) => (sending.reusedSocket ? send() : reject(error))).end(body)
    }
    send()
  })
}
