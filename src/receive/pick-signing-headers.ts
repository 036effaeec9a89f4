/** Names that have to do with signing. */
const WANTED =
  /signature|hmac|digest|checksum|timestamp|(^|-)(mac|hash|proof|seal|sig|sign|id|time|ts|date|nonce|event|delivery|version|v)(-|$)/i
/** Names that never do, or that tell who somebody is. */
const UNWANTED = /auth|cookie|token|key|secret|password|session|forwarded|client|user|real-ip|trace|^(date|via|host)$/i

const MAX_HEADERS = 20
const MAX_VALUE = 4_096

/**
 * The headers that a signature may rest on, in lower case; whatever may be a credential is left
 * out. Takes `rawHeaders`.
 */
export function pickSigningHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const picked = new Map<string, string>()
  for (let at = 0; at + 1 < rawHeaders.length && picked.size < MAX_HEADERS; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at]?.toLowerCase(), rawHeaders[at + 1]]
    if (WANTED.test(name) && !UNWANTED.test(name) && value.length <= MAX_VALUE) picked.set(name, value)
  }
  return Object.fromEntries(picked)
}
