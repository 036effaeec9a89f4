import {
  AdminApiError,
  AdminClient,
  type AnyInput,
  type CallOptions,
  type RouteName,
} from '../../admin/client/index.ts'
import { type ErrorCode, UpshotError } from '../../core/errors.ts'
import { systemClock, waitUntil } from '../../core/time.ts'
import { readVersion } from '../../project/read-version.ts'
import type { Server } from './find-server.ts'
import { type Operations, withReason } from './operations.ts'

interface AnyClient {
  call(name: RouteName, input?: AnyInput, options?: CallOptions): Promise<unknown>
  stream(name: RouteName, input?: AnyInput, options?: CallOptions): AsyncIterable<Uint8Array>
  events(name: RouteName, input?: AnyInput, options?: CallOptions): AsyncIterable<unknown>
}

/** Long enough for a search, a test of an endpoint, and a first connection. */
const WITHIN_MS = 120_000
/** The longest wait for a limit of the server. */
const MAX_WAIT_MS = 70_000

/** The operations of a server. Throws `UpshotError`, with the server's own words if any. */
export function openRemoteOperations({ url, token }: Server, reason: string | null): Operations {
  let version: string | null = null
  const send: typeof fetch = async (input, init) => {
    // A redirect would hand the token on, or make a GET of an action.
    const response = await fetch(input, { ...init, redirect: 'error' }).catch((cause: unknown) => {
      throw describeUnreachable(url, cause)
    })
    version = response.headers.get('x-upshot-version') ?? version
    return response
  }
  const client = new AdminClient({ url, token, fetch: send, timeoutMs: WITHIN_MS }) as AnyClient
  const tell = (error: unknown) => {
    if (error instanceof AdminApiError) return describeRefusal(error, { url, version })
    if (error instanceof SyntaxError && version === null) return describeStranger(url, 200)
    return isCut(error) ? describeCut(url, error) : error
  }
  async function* telling<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
    try {
      for await (const chunk of chunks) {
        if (version === null) throw describeStranger(url, 200)
        yield chunk
      }
      if (version === null) throw describeStranger(url, 200)
    } catch (error) {
      throw tell(error)
    }
  }
  const operations: Operations = {
    local: null,
    async perform(name, input, options) {
      for (;;) {
        try {
          const answer = await client.call(name, input, options)
          if (version === null) throw describeStranger(url, 200)
          return answer
        } catch (error) {
          // The server has refused to begin it, so that nothing is done twice.
          const retryAt = error instanceof AdminApiError && error.status === 429 ? error.problem?.retryAt : undefined
          if (retryAt === undefined || Date.parse(retryAt) > systemClock.now() + MAX_WAIT_MS) throw tell(error)
          await waitUntil(systemClock, Date.parse(retryAt) + 1, options?.signal ?? new AbortController().signal)
        }
      }
    },
    stream: (name, input, options) => telling(client.stream(name, input, options)),
    events: (name, input, options) => telling(client.events(name, input, options)),
  }
  return withReason(operations, reason)
}

/** Answers of a proxy before an app that is down or starts again. */
const PROXY_STATUSES: readonly number[] = [502, 503, 504]

/** A problem of the server as an error of ours; its code decides how the command exits. */
function describeRefusal(
  { status, problem, message, code, fix }: AdminApiError,
  { url, version }: { url: string; version: string | null },
): UpshotError {
  if (problem === null || typeof problem.code !== 'string') {
    if (PROXY_STATUSES.includes(status)) {
      return new UpshotError('service_failed', `A proxy at ${url} does not reach the server (HTTP ${status}).`, {
        fix: 'See whether the app is running, and try again.',
      })
    }
    return describeStranger(url, status)
  }
  if (status === 401) {
    return new UpshotError('unauthenticated', `The server ${url} refuses the token: ${message}`, {
      fix: 'Let an admin make one with "upshot tokens add <name>", and name its file with --token-file.',
    })
  }
  const other = version !== null && version !== readVersion() && /^(unknown_operation|invalid_request)$/.test(code)
  const versions = other ? ` The server has version ${version}, and this command ${readVersion()}.` : ''
  return new UpshotError(code as ErrorCode, `${message}${versions}`, {
    details: {
      ...(other ? { fix: 'Use the version of the server.' } : fix === null ? {} : { fix }),
      ...(problem.retryAt === undefined ? {} : { retryAt: Date.parse(problem.retryAt) }),
    },
  })
}

function describeStranger(url: string, status: number): UpshotError {
  return new UpshotError('misdirected', `${url} does not answer like the admin server of Upshot (HTTP ${status}).`, {
    fix: 'Name the address of its admin server, with its base path and without /api/v1.',
  })
}

/** Whether an answer of the server ended, or stopped coming, in its middle. */
function isCut(error: unknown): boolean {
  if (error instanceof TypeError) return error.message === 'terminated'
  return error instanceof SyntaxError || (error instanceof Error && error.name === 'TimeoutError')
}

function describeCut(url: string, cause: unknown): UpshotError {
  return new UpshotError('service_failed', `The connection to ${url} ended before the whole answer was here.`, {
    cause,
    fix: 'Check whether it took effect, then ask again.',
  })
}

/** Codes of OpenSSL and of Node for a certificate that nothing vouches for. */
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/

function describeUnreachable(url: string, cause: unknown): unknown {
  if (cause instanceof Error && cause.name === 'TimeoutError') {
    return new UpshotError('service_failed', `The server ${url} gave no answer within two minutes.`, { cause })
  }
  if (!(cause instanceof TypeError)) return cause
  const reason = cause.cause as { code?: string; message?: string } | undefined
  const code = reason?.code ?? ''
  const why = code || reason?.message || cause.message
  const tell = (kind: ErrorCode, message: string, fix: string) => new UpshotError(kind, message, { cause, fix })
  if (UNTRUSTED.test(code)) {
    const fix = 'Name the certificate of its authority in NODE_EXTRA_CA_CERTS.'
    return tell('invalid_config', `The certificate of ${url} is not trusted here (${code}).`, fix)
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return tell('invalid_config', `The certificate of ${url} is for another name.`, 'Correct the address.')
  }
  if (code.startsWith('CERT_')) {
    return tell('invalid_config', `The certificate of ${url} is not valid (${code}).`, 'Let its operator renew it.')
  }
  if (/^(ERR_SSL_|EPROTO)/.test(code)) {
    return tell('invalid_config', `The server ${url} does not speak TLS as this command does (${code}).`, SCHEME)
  }
  // After a 421, `fetch` sends the request once more, and has no body left to send.
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') {
    const fix = 'Use the address that the app prints at its start, or name this one in admin.url.'
    return tell('misdirected', `The server ${url} does not answer under this name (HTTP 421).`, fix)
  }
  if (/redirect/.test(why)) {
    const fix = 'Name the address that it redirects to, if you trust it.'
    return tell('misdirected', `The server ${url} redirects to another address.`, fix)
  }
  return tell('service_failed', `The server ${url} cannot be reached (${why}).`, 'Check the address and the network.')
}

const SCHEME = 'Check that the address begins with the scheme that the server has: https or http.'
