/** Parts of names that have to do with signing, at any place. */
const WANTED = /signature|hmac|digest|checksum|timestamp/i
/** Whole words of names, between hyphens, that have to do with signing. */
const WANTED_WORD = /(^|-)(mac|hash|proof|seal|sig|sign|id|time|ts|date|nonce|event|delivery|version|v)(-|$)/i
/** Parts of names that are credentials or identify a person; three that are never signed. */
const UNWANTED = /auth|cookie|token|key|secret|password|session|forwarded|client|user|real-ip|trace|^(date|via|host)$/i

const MAX_HEADERS = 20
const MAX_VALUE_LENGTH = 4_096

/**
 * The headers that a signature may cover, by name in lower case and without credentials. At most 20
 * headers of 4,096 characters each.
 */
export function pickSigningHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const picked = new Map<string, string>()
  for (let at = 0; at + 1 < rawHeaders.length && picked.size < MAX_HEADERS; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at]?.toLowerCase(), rawHeaders[at + 1]]
    if (isWanted(name) && value.length <= MAX_VALUE_LENGTH) picked.set(name, value)
  }
  return Object.fromEntries(picked)
}

function isWanted(name: string): boolean {
  return (WANTED.test(name) || WANTED_WORD.test(name)) && !UNWANTED.test(name)
}
