import { type ErrorCode, UpshotError } from '../../core/errors.ts'
import type { Verdict } from '../../core/incoming/delivery.ts'
import { activeSecrets, type Endpoint } from '../../core/incoming/endpoint.ts'
import type { ServiceEvent } from '../../core/incoming/event.ts'
import { signBody } from '../../core/incoming/signature.ts'
import { type Answer, deliver } from './deliver.ts'

const REFUSALS: Record<number, ErrorCode> = {
  400: 'invalid_event',
  401: 'invalid_signature',
  413: 'body_too_large',
  503: 'overloaded',
}

/** Where a delivery goes to, and when it is signed. */
export interface Target {
  endpoint: Endpoint
  /** What the endpoint's address begins with. */
  receiver: string
  now: number
  signal: AbortSignal
}

/**
 * Delivers an event as the service would: signed, by HTTP. Throws what the receiver refuses it for.
 */
export async function sendEvent(event: ServiceEvent, target: Target): Promise<Verdict> {
  const { status, verdict, reason } = await deliverSigned(
    { id: event.id, body: Buffer.from(JSON.stringify(event)) },
    target,
  )
  if (verdict !== null) return verdict
  throw new UpshotError(
    REFUSALS[status] ?? 'internal',
    `The receiver answered ${status}: ${reason ?? 'It gave no reason.'}`,
  )
}

/** Delivers a body, signed with the endpoint's newest secret. */
export function deliverSigned(
  { id, body }: { id: string; body: Uint8Array },
  { endpoint, receiver, now, signal }: Target,
): Promise<Answer> {
  const secret = activeSecrets(endpoint, now).at(-1)
  if (secret === undefined) {
    throw new UpshotError('conflict', `Endpoint "${endpoint.name}" has no secret that is valid now.`, {
      details: { fix: 'Choose another one of "upshot endpoints list" with --endpoint.' },
    })
  }
  const headers = signBody(endpoint.scheme, secret, { id, body }, now)
  return deliver(`${receiver}/hooks/${endpoint.path}`, { body, headers, signal })
}
