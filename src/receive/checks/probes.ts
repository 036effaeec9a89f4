import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { UpshotError } from '../../core/errors.ts'
import { currentSecret, type Endpoint } from '../../core/incoming/endpoint.ts'
import { TEST_EVENT } from '../../core/incoming/event.ts'
import { isProbeMark, MARK_MS, PROBE_HEADER } from '../../core/incoming/probe-mark.ts'
import { signBody } from '../../core/incoming/signature.ts'
import { isoTime } from '../../core/time.ts'

// Imported, this module would load all of undici. See decision 67.
const { request: httpRequest } = process.getBuiltinModule('node:http')

/** Marks that are remembered as used; beyond them, a mark is not believed. */
const MAX_USED = 1_000

/** Tells the probes of this receiver, and with a key those of our commands, from other requests. */
export function openProbeCheck(selfProbe: SelfProbe, key: Uint8Array | undefined) {
  const known = key === undefined ? null : new KnownProbes(key)
  return (request: IncomingMessage, path: string, now: number): 'self' | 'command' | null => {
    const mark = request.headers[PROBE_HEADER]
    if (typeof mark !== 'string') return null
    if (selfProbe.recognize(mark)) return 'self'
    return known?.recognize(mark, { path, now }) ? 'command' : null
  }
}

/** Recognizes the probes of our commands by their marks. Each mark counts once. */
class KnownProbes {
  readonly #key: Uint8Array
  /** The moment from which each used mark may be forgotten. */
  readonly #used = new Map<string, number>()

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** `path`: the part of the address behind `/hooks/`. */
  recognize(mark: string, { path, now }: { path: string; now: number }): boolean {
    if (!isProbeMark(this.#key, mark, { path, now }) || this.#used.has(mark)) return false
    for (const [old, until] of this.#used) if (until <= now) this.#used.delete(old)
    if (this.#used.size >= MAX_USED) return false
    // A mark from the future of our clock is good for up to twice the time.
    this.#used.set(mark, now + 2 * MARK_MS)
    return true
  }
}

const ANSWER_WITHIN_MS = 5_000
const EVENT_ID = 'evt_probe'
/** Marks of probes that nobody has seen yet; beyond them, the oldest is forgotten. */
const MAX_MARKS = 10_000

/**
 * Sends deliveries to this receiver through the real HTTP stack; it checks them and saves nothing.
 * Each carries a random mark that only this process knows and that counts once.
 */
export class SelfProbe {
  readonly #marks = new Set<string>()

  /** True for the mark of a request that `send` made, once. */
  recognize(mark: string): boolean {
    return this.#marks.delete(mark)
  }

  /** Resolves when a delivery to the endpoint passes every check; otherwise rejects. */
  async send(receiverUrl: string, endpoint: Endpoint, now: number): Promise<void> {
    const event = { id: EVENT_ID, type: TEST_EVENT, created: isoTime(now), data: {} }
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
  httpRequest(
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
