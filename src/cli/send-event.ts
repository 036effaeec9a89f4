import { z } from 'zod'
import type { Verdict } from '../core/delivery.ts'
import { activeSecrets, type Endpoint } from '../core/endpoint.ts'
import { type ErrorCode, UpshotError } from '../core/errors.ts'
import type { ServiceEvent } from '../core/event.ts'
import { signBody } from '../core/signature.ts'

/** How long the receiver may take to commit and answer. */
const ANSWER_WITHIN_MS = 10_000

const answer = z.object({ success: z.literal(true), data: z.object({ verdict: z.string() }) })
const refusal = z.object({ error: z.object({ message: z.string() }) })

const REFUSALS: Record<number, ErrorCode> = {
  400: 'invalid_event',
  401: 'invalid_signature',
  413: 'body_too_large',
  503: 'overloaded',
}

/** Delivers an event as the service would: signed, by HTTP. Throws what the receiver refuses it for. */
export async function sendEvent(
  event: ServiceEvent,
  { endpoint, receiver, now, signal }: { endpoint: Endpoint; receiver: string; now: number; signal: AbortSignal },
): Promise<Verdict> {
  const body = Buffer.from(JSON.stringify(event))
  const secret = activeSecrets(endpoint, now).at(-1)
  if (secret === undefined) {
    throw new UpshotError('conflict', `Endpoint "${endpoint.name}" has no secret that is valid now.`, {
      details: { fix: 'Choose another one of "upshot endpoints list" with --endpoint.' },
    })
  }
  const response = await post(`${receiver}/hooks/${endpoint.path}`, {
    body,
    headers: { 'content-type': 'application/json', ...signBody(endpoint.scheme, secret, { id: event.id, body }, now) },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
  })
  const reply: unknown = await response.json()
  if (response.ok) return answer.parse(reply).data.verdict as Verdict
  const reason = refusal.safeParse(reply).data?.error.message ?? 'It gave no reason.'
  throw new UpshotError(REFUSALS[response.status] ?? 'internal', `The receiver answered ${response.status}: ${reason}`)
}

async function post(url: string, request: Omit<RequestInit, 'method'>): Promise<Response> {
  try {
    return await fetch(url, { method: 'POST', ...request })
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new UpshotError('not_running', 'The receiver does not answer any more.', { cause })
  }
}
