import { AbortedError, ConnectionError, type ErrorFacts, FilesError } from '../errors.ts'
import { redactSecret, type Secret } from '../secret.ts'

/**
 * Turns a failure of sockets and streams, which may throw anything, into an error of this client.
 */
export function toTransportError(
  error: unknown,
  { signal, facts, secret = null }: { signal: AbortSignal; facts: ErrorFacts; secret?: Secret | null },
): FilesError {
  const thrown = signal.aborted ? signal.reason : error
  if (thrown instanceof FilesError) return thrown
  if (signal.aborted) return new AbortedError('The call was aborted.', facts)
  const cause = plainCause(error, secret)
  return new ConnectionError('The connection to the server failed or broke off.', { ...facts, cause })
}

/** The system's message only: the original error also holds requests, sockets and addresses. */
function plainCause(error: unknown, secret: Secret | null): Error {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = inner instanceof Error && 'code' in inner && typeof inner.code === 'string' ? `${inner.code}: ` : ''
  return new Error(redactSecret(`${code}${inner instanceof Error ? inner.message : String(inner)}`, secret))
}
