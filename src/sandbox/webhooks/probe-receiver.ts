import { newId } from '../../core/ids.ts'
import { isoTime } from '../../core/time.ts'
import { postDelivery, STALE_BY_MS, signDelivery, WRONG_SECRET } from './post-delivery.ts'
import type { Webhook } from './webhooks.ts'

/** How a receiver answered one delivery of the probe. */
export interface ProbeCheck {
  name: ProbeName
  expected: 'accepted' | 'refused'
  /** HTTP status; null without a reply. */
  status: number | null
  error: string | null
  passed: boolean
}
/** The deliveries of the probe. */
export type ProbeName =
  | 'valid'
  | 'repeated'
  | 'forged'
  | 'unsigned'
  | 'tampered'
  | 'stale'
  | 'oversized'
  | 'wrong_type'
  | 'bad_json'

/** How a receiver answered the whole probe. */
export interface ProbeReport {
  passed: boolean
  checks: ProbeCheck[]
}

interface ProbeDelivery {
  name: ProbeName
  expected: ProbeCheck['expected']
  headers: Record<string, string>
  body: Buffer
}

const OVERSIZED_BYTES = 10 * 1024 * 1024
/** A receiver may refuse by closing the connection during the body. */
const HUNG_UP = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/**
 * Checks what a receiver accepts and refuses, with deliveries one after another. They have the type
 * `sandbox.probe` and are not logged.
 */
export async function probeReceiver(
  webhook: Webhook,
  options: { now: number; timeoutMs: number },
): Promise<ProbeReport> {
  const checks: ProbeCheck[] = []
  for (const { name, expected, headers, body } of composeProbe(webhook, options.now)) {
    const signal = new AbortController().signal
    const { status, error } = await postDelivery(
      { url: webhook.url, headers, body },
      { timeoutMs: options.timeoutMs, signal },
    )
    checks.push({ name, expected, status, error, passed: isAsExpected(expected, status, error) })
  }
  return { passed: checks.every((check) => check.passed), checks }
}

function composeProbe(webhook: Webhook, now: number): ProbeDelivery[] {
  const id = newId('evt', now)
  const event = { id, type: 'sandbox.probe', created: isoTime(now), data: {} }
  const body = Buffer.from(JSON.stringify(event))
  const sign = (bytes: Buffer, signedAt = now, by = webhook) => ({
    'Content-Type': 'application/json',
    ...signDelivery(by, id, bytes, signedAt),
  })
  const refused = (name: ProbeName, headers: Record<string, string>, bytes = body): ProbeDelivery => {
    return { name, expected: 'refused', headers, body: bytes }
  }
  const large = Buffer.from(JSON.stringify({ ...event, data: { padding: 'x'.repeat(OVERSIZED_BYTES) } }))
  const broken = body.subarray(0, -1)
  const hasTime = webhook.scheme.signed !== 'body'
  return [
    { name: 'valid', expected: 'accepted', headers: sign(body), body },
    { name: 'repeated', expected: 'accepted', headers: sign(body), body },
    refused('forged', sign(body, now, { ...webhook, secrets: [WRONG_SECRET] })),
    refused('unsigned', { 'Content-Type': 'application/json' }),
    refused('tampered', sign(body), Buffer.from(body.toString().replace('sandbox.probe', 'sandbox.forge'))),
    ...(hasTime ? [refused('stale', sign(body, now - STALE_BY_MS))] : []),
    refused('oversized', sign(large), large),
    refused('wrong_type', { ...sign(body), 'Content-Type': 'text/plain' }),
    refused('bad_json', sign(broken), broken),
  ]
}

/** A refusal is a 4xx, because senders retry after a 5xx. */
function isAsExpected(expected: ProbeCheck['expected'], status: number | null, error: string | null): boolean {
  if (status === null) return expected === 'refused' && error !== null && HUNG_UP.has(error)
  return expected === 'accepted' ? status >= 200 && status < 300 : status >= 400 && status < 500
}
