import type { ServerResponse } from 'node:http'
import { type Answered, VERDICTS } from '../core/incoming/delivery.ts'
import type { Reception } from './accept-delivery.ts'
import { PAGE_HEADERS } from './callbacks/callback-page.ts'

/** Default `Retry-After` of a 503, in seconds. */
const RETRY_AFTER_SECONDS = 2

type ErrorBody = { code: string; message: string; details?: Record<string, unknown> }

/** One answer for all failures of trust: a prober learns nothing, the ledger has the reason. */
const UNTRUSTED: ErrorBody = { code: 'authentication_error', message: 'The delivery was refused.' }

const ERRORS: Record<Exclude<Answered, 'accepted' | 'duplicate' | 'conflict'>, ErrorBody> = {
  bad_signature: UNTRUSTED,
  stale: UNTRUSTED,
  unknown_endpoint: UNTRUSTED,
  disabled: UNTRUSTED,
  unknown_hook: { code: 'resource_not_found', message: 'Nobody waits for an answer at this address.' },
  answered: { code: 'conflict', message: 'There is another answer, and only one is taken.' },
  closed: { code: 'gone', message: 'Nobody waits for this answer any more.' },
  misfit: { code: 'invalid_request', message: 'The answer does not fit.' },
  bad_json: { code: 'invalid_request', message: 'The body is not what is asked for.' },
  wrong_type: { code: 'invalid_request', message: 'Send the body as application/json, without Content-Encoding.' },
  incomplete: { code: 'invalid_request', message: 'The body was cut short.' },
  too_large: { code: 'invalid_request', message: 'The body is larger than this endpoint takes.' },
  consumed: { code: 'service_error', message: 'The receiver is not set up rightly. Send it again later.' },
  learning: { code: 'service_error', message: 'This endpoint is being set up. Send it again later.' },
  overloaded: { code: 'service_error', message: 'Too many deliveries at once. Send it again later.' },
  unavailable: { code: 'service_error', message: 'The receiver cannot store deliveries now. Send it again later.' },
  draining: { code: 'service_error', message: 'The receiver is stopping. Send it again later.' },
}

type Answer = Pick<Reception, 'verdict' | 'event' | 'complaint' | 'retryAfterMs'>

interface Manner {
  /** Closes the connection. */
  isClosing: boolean
  /** For a browser, in place of JSON. */
  page?: string
}

/** Writes the answer to a verdict: a page, or JSON in the service's envelope. */
export function respond(response: ServerResponse, answer: Answer, how: Manner): void {
  const { verdict, event, complaint } = answer
  if (verdict === 'accepted' || verdict === 'duplicate' || verdict === 'conflict') {
    send(response, { success: true, data: { verdict, event: event?.id ?? null } }, { ...answer, ...how })
    return
  }
  const error = complaint
    ? { ...ERRORS[verdict], message: complaint.message, details: complaint.details }
    : ERRORS[verdict]
  send(response, { success: false, error: { details: {}, ...error } }, { ...answer, ...how })
}

function send(
  response: ServerResponse,
  body: unknown,
  { verdict, retryAfterMs, isClosing, page }: Answer & Manner,
): void {
  const { status } = VERDICTS[verdict]
  const text = page ?? JSON.stringify(body)
  const headers: Record<string, string | number> = {
    ...(page === undefined ? { 'Content-Type': 'application/json' } : PAGE_HEADERS),
    'Content-Length': Buffer.byteLength(text),
  }
  if (status === 503) {
    headers['Retry-After'] = retryAfterMs === undefined ? RETRY_AFTER_SECONDS : Math.ceil(retryAfterMs / 1_000)
  }
  if (isClosing) headers.Connection = 'close'
  response.writeHead(status, headers).end(text)
}
