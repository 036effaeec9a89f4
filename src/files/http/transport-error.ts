import type { ErrorFacts } from '../errors.ts'
import { AbortedError, ConnectionError, FilesError } from '../errors.ts'
import type { Secret } from '../secret.ts'
import { redactSecret } from '../secret.ts'

/**
 * What went wrong on the way, as one of our errors: sockets and streams throw all sorts of things.
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

/**
 * The system's own words without what it hangs on them: requests, sockets, addresses with a query.
 */
function plainCause(error: unknown, secret: Secret | null): Error {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = inner instanceof Error && 'code' in inner && typeof inner.code === 'string' ? `${inner.code}: ` : ''
  return new Error(redactSecret(`${code}${inner instanceof Error ? inner.message : String(inner)}`, secret))
}
