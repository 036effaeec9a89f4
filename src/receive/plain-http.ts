import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Whether a request is one that every proxy reads as we do: HTTP/1.0 or 1.1, one `Host` at most,
 * and no transfer coding but `chunked`.
 */
export function isPlainHttp({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return false
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) return false
  return countHeader(rawHeaders, 'host') <= 1
}

/** `rawHeaders` alternates names and values; `name` is in lower case. */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] ?? ''
    if (raw.length === name.length && raw.toLowerCase() === name) count += 1
  }
  return count
}

const REFUSAL = JSON.stringify({
  success: false,
  error: {
    code: 'invalid_request',
    message: 'Send HTTP/1.1 with one Host and no transfer coding but chunked.',
    details: {},
  },
})

/** Answers 400 and closes the connection: the rest of its bytes could be read in two ways. */
export function refuseOddHttp({ socket }: IncomingMessage, response: ServerResponse): void {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': REFUSAL.length, Connection: 'close' }
  response.writeHead(400, headers).end(REFUSAL)
  socket.destroySoon()
}
