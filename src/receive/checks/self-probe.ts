import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { UpshotError } from '../../core/errors.ts'
import { currentSecret, type Endpoint } from '../../core/incoming/endpoint.ts'
import { PROBE_HEADER } from '../../core/incoming/probe-mark.ts'
import { signBody } from '../../core/incoming/signature.ts'
import { isoTime } from '../../core/time.ts'

// Imported, this module would load all of undici. See decision 67.
const { request } = process.getBuiltinModule('node:http')

const ANSWER_WITHIN_MS = 5_000
const EVENT_ID = 'evt_upshot_probe'
/** Marks of probes that nobody has seen yet; beyond them, the oldest is forgotten. */
const MAX_MARKS = 10_000

/**
 * Sends deliveries to this receiver through the real HTTP stack; it checks them and saves nothing.
 * Each carries a random mark that only this process knows and that counts once.
 */
export class SelfProbe {
  readonly #marks = new Set<string>()

  /** True for a request that `send` made, once. */
  recognize({ headers }: IncomingMessage): boolean {
    const mark = headers[PROBE_HEADER]
    return typeof mark === 'string' && this.#marks.delete(mark)
  }

  /** Resolves when a delivery to the endpoint passes every check; otherwise rejects. */
  async send(receiverUrl: string, endpoint: Endpoint, now: number): Promise<void> {
    const event = { id: EVENT_ID, type: 'upshot.probe', created: isoTime(now), data: {} }
    const body = Buffer.from(JSON.stringify(event))
    const signature = signBody(endpoint.scheme, currentSecret(endpoint), { id: event.id, body }, now)
    const headers = { 'Content-Type': 'application/json', ...signature, [PROBE_HEADER]: this.#makeMark() }
    const status = await post(`${receiverUrl}/hooks/${endpoint.path}`, { headers, body })
    if (status === 200) return
    throw new UpshotError(
      'invalid_signature',
      `Endpoint "${endpoint.name}" answers ${status} to a delivery signed with its own secret. ` +
        'Look at its scheme and secret with "upshot endpoints list".',
    )
  }

  /** Kept beyond a probe that is given up: a busy receiver may read it later, as a delivery. */
  #makeMark(): string {
    const mark = randomBytes(32).toString('hex')
    this.#marks.add(mark)
    const [oldest = mark] = this.#marks
    if (this.#marks.size > MAX_MARKS) this.#marks.delete(oldest)
    return mark
  }
}

async function post(url: string, { headers, body }: { headers: Record<string, string>; body: Buffer }) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
  request(
    url,
    { method: 'POST', agent: false, headers: { ...headers, 'Content-Length': body.length }, signal },
    resolve,
  )
    .on('error', reject)
    .end(body)
  const response = await promise
  await text(response)
  return response.statusCode
}
