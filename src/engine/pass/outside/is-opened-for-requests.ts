/** Node's own parts between a protocol and `Socket.connect`. */
const CARRIERS = /Agent\.createConnection |\(?node:(net|tls|https|_tls_wrap|internal\/tls\/[\w/-]+):/
/** Node's own parts that open connections for the requests of their callers. */
const PROTOCOLS = /\(?node:(_http_agent|_http_client|internal\/http2\/[\w-]+|internal\/deps\/undici\/undici):/

/** Frames that are looked at: the carriers are few. */
const FRAMES = 15

/**
 * Whether Node opens the connection of this call for a request, which is judged by itself. Nobody
 * knows what another one will send. To be called in place of `Socket.connect`, and named for it.
 */
export function isOpenedForRequests(from: (...given: never[]) => unknown): boolean {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = FRAMES
  const holder: { stack?: string } = {}
  Error.captureStackTrace(holder, from)
  Error.stackTraceLimit = stackTraceLimit
  const frames = holder.stack?.split('\n').slice(1) ?? []
  const opener = frames.find((frame) => !CARRIERS.test(frame))
  return opener !== undefined && PROTOCOLS.test(opener)
}
