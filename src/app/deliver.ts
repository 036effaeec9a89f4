import { z } from 'zod'
import type { Trials } from '../admin/ports/surroundings.ts'
import { type ErrorCode, UpshotError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { VERDICTS, type Verdict } from '../core/incoming/delivery.ts'
import { activeSecrets, type Endpoint, newSecret } from '../core/incoming/endpoint.ts'
import { type ServiceEvent, TEST_EVENT } from '../core/incoming/event.ts'
import { markProbe, PROBE_HEADER } from '../core/incoming/probe-mark.ts'
import { signBody } from '../core/incoming/signature.ts'
import { parseJson } from '../core/json.ts'
import type { ReadStore } from '../core/store/store.ts'
import { isoTime } from '../core/time.ts'

/** Time for a receiver to commit and answer. */
const ANSWER_WITHIN_MS = 10_000

/** Bytes that are read of an answer, which may come from any server. */
const MAX_ANSWER_BYTES = 65_536

interface Answer {
  status: number
  /** The verdict, if our receiver accepted the delivery; null otherwise. */
  verdict: Verdict | null
  /** The error message of a refusal; null if there is none. */
  reason: string | null
  /** The body as text, at most 64 KiB. */
  text: string
}

interface Delivery {
  body: Uint8Array
  /** Includes the signature; `content-type` is added. */
  headers: Record<string, string>
  signal: AbortSignal
}

const accepted = z.object({ data: z.object({ verdict: z.enum(Object.keys(VERDICTS) as [Verdict, ...Verdict[]]) }) })
const refused = z.object({ error: z.object({ message: z.string() }) })

/**
 * Posts a delivery as the service does, without following redirects. Throws `not_running` if no
 * answer arrives within 10 s.
 */
export async function deliver(url: string, { body, headers, signal }: Delivery): Promise<Answer> {
  const response = await post(url, {
    body,
    headers: { 'content-type': 'application/json', ...headers },
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
  })
  const text = await readText(response)
  const content = parseJson(text)
  return {
    status: response.status,
    verdict: response.ok ? (accepted.safeParse(content).data?.data.verdict ?? null) : null,
    reason: refused.safeParse(content).data?.error.message ?? null,
    text,
  }
}

async function post(url: string, request: Omit<RequestInit, 'method'>): Promise<Response> {
  try {
    return await fetch(url, { method: 'POST', ...request })
  } catch (cause) {
    const isTimeout = cause instanceof DOMException && cause.name === 'TimeoutError'
    if (!isTimeout && !(cause instanceof TypeError)) throw cause
    const { origin } = new URL(url)
    const what = isTimeout ? `did not answer within ${ANSWER_WITHIN_MS / 1_000} s` : 'does not answer'
    throw new UpshotError('not_running', `The receiver at ${origin} ${what}.`, { cause })
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= MAX_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8')
}

const REFUSALS: Record<number, ErrorCode> = {
  400: 'invalid_event',
  401: 'invalid_signature',
  413: 'body_too_large',
  503: 'overloaded',
}

/** The receiver of a delivery, and the time of its signature. */
interface Target {
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

type Trial = Trials['trials'][number]

/**
 * Sends a signed, a forged and a repeated delivery, and checks that the event is stored once. The
 * forged one is marked as a probe, so that it does not look like an attack.
 */
export async function tryEndpoint(store: ReadStore, target: Target & { probeKey: Uint8Array }): Promise<Trials> {
  const { endpoint, receiver, now, signal } = target
  const id = newId('evt', now)
  const data = { message: 'Sent by the command "endpoints test". It starts no workflow of "*".' }
  const body = Buffer.from(JSON.stringify({ id, type: TEST_EVENT, created: isoTime(now), data }))
  const signature = signBody(endpoint.scheme, newSecret(endpoint.scheme), { id, body }, now)
  const forgery = { ...signature, [PROBE_HEADER]: markProbe(target.probeKey, endpoint.path, now) }

  const trials = [
    judge('signed', 'accepted', await deliverSigned({ id, body }, target)),
    judge('forged', 'refused', await deliver(`${receiver}/hooks/${endpoint.path}`, { body, headers: forgery, signal })),
    judge('repeated', 'duplicate', await deliverSigned({ id, body }, target)),
  ]
  const events = (await store.findEvents(id)).filter((event) => event.account === endpoint.account)
  return { event: id, trials, isStored: events.length === 1 && events[0]?.body === body.toString() }
}

function judge(sent: Trial['sent'], expected: string, { status, verdict }: Answer): Trial {
  const got = verdict ?? (status === 401 ? 'refused' : `HTTP ${status}`)
  return { sent, expected, got, status, isRight: got === expected }
}
