import { execFileSync } from 'node:child_process'

/** Hex HMAC-SHA256 by openssl: never by the code under test. */
export function opensslHmac(secret: string, body: string | Uint8Array): string {
  const key = Buffer.from(secret).toString('hex')
  const output = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`], {
    input: body,
  })
  return output.toString().trim().split(' ').at(-1) ?? ''
}
