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

/** The receiver of a delivery, and the time of its signature. */
export interface Target {
  endpoint: Endpoint
  /** The base URL of the endpoint's address. */
  receiver: string
  now: number
  signal: AbortSignal
}

/** Signs and posts an event as the service does. Throws if the receiver refuses it. */
export async function sendEvent(event: ServiceEvent, target: Target): Promise<Verdict> {
  const { status, verdict, reason } = await deliverSigned(
    { id: event.id, body: Buffer.from(JSON.stringify(event)) },
    target,
  )
  if (verdict !== null) return verdict
  throw new UpshotError(
    REFUSALS[status] ?? 'internal',
    `The receiver answered HTTP ${status}: ${reason ?? 'it gave no reason.'}`,
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
      details: { fix: `Create one with "upshot endpoints rotate ${endpoint.name}", or choose another endpoint.` },
    })
  }
  const headers = signBody(endpoint.scheme, secret, { id, body }, now)
  return deliver(`${receiver}/hooks/${endpoint.path}`, { body, headers, signal })
}
