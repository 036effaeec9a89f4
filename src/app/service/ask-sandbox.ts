import { z } from 'zod'
import { type ErrorCode, UpshotError } from '../../core/errors.ts'

type RequestBody = string | Blob

interface SandboxQuestion {
  method: string
  /** Under `/_sandbox`. */
  path: string
  /** Text is JSON, unless the method is PUT. */
  body?: RequestBody | undefined
}

/** Generous: advancing the clock may wait for many receivers that do not answer. */
const ANSWER_WITHIN_MS = 300_000

const answer = z.object({ data: z.unknown() })
const refusal = z.object({ error: z.object({ message: z.string() }) })

/** The `data` of an answer of a sandbox's control API. Its refusals become errors of ours. */
export async function askSandbox(origin: string, { method, path, body }: SandboxQuestion): Promise<unknown> {
  const isText = typeof body === 'string'
  const reply = await fetch(`${origin}/_sandbox${path}`, {
    method,
    headers: { 'x-sandbox-control': '1', ...(isText ? { 'content-type': 'application/json' } : {}) },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    ...(body === undefined ? {} : { body }),
  }).catch((cause: unknown) => {
    throw new UpshotError('not_running', `The sandbox at ${origin} stopped answering.`, { cause })
  })
  const content: unknown = await reply.json().catch(() => null)
  if (reply.ok) return answer.parse(content).data
  throw new UpshotError(codeOf(reply.status), refusal.safeParse(content).data?.error.message ?? `HTTP ${reply.status}.`)
}

function codeOf(status: number): ErrorCode {
  if (status === 404) return 'not_found'
  if (status === 409) return 'conflict'
  return status < 500 ? 'invalid_request' : 'internal'
}
