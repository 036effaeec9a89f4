import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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

/** An Ed25519 pair by openssl, in PEM. */
export function opensslPair(): { privateKey: string; publicKey: string } {
  const privateKey = execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519']).toString()
  return { privateKey, publicKey: execFileSync('openssl', ['pkey', '-pubout'], { input: privateKey }).toString() }
}

/** Ed25519 by openssl, which reads both key and text from files. */
export function opensslSignature(privateKey: string, text: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'upshot-test-'))
  const [key, message] = [join(folder, 'key'), join(folder, 'text')] as const
  try {
    writeFileSync(key, privateKey)
    writeFileSync(message, text)
    return execFileSync('openssl', ['pkeyutl', '-sign', '-inkey', key, '-rawin', '-in', message])
  } finally {
    rmSync(folder, { recursive: true })
  }
}
