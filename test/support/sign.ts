import { execFileSync } from 'node:child_process'

/** Hex HMAC-SHA256 by openssl, so that no code under test signs. */
export function opensslHmac(secret: string, body: string | Uint8Array): string {
  const key = Buffer.from(secret).toString('hex')
  const output = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`], {
    input: body,
  })
  return output.toString().trim().split(' ').at(-1) ?? ''
}

/** HMAC by openssl as bytes. The key is not decoded. */
export function opensslMac(
  algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512',
  key: string | Buffer,
  signed: Uint8Array,
): Buffer {
  const hexKey = `hexkey:${Buffer.from(key as string).toString('hex')}`
  return execFileSync('openssl', ['dgst', `-${algorithm}`, '-mac', 'HMAC', '-macopt', hexKey, '-binary'], {
    input: signed,
  })
}
