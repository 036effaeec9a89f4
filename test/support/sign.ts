import { equal } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Ways to sign for which openssl has signed a text of this process as well. */
const proven = new Set<'hmac' | 'ed25519'>()

/** Hex HMAC-SHA256 without code under test. openssl signs the first text of a process as well. */
export function opensslHmac(secret: string, body: string | Uint8Array): string {
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  if (!proven.has('hmac')) equal(opensslMac('sha256', secret, Buffer.from(body)).toString('hex'), signature)
  proven.add('hmac')
  return signature
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

/** Ed25519, which signs a text in one way only. openssl signs the first of a process as well. */
export function opensslSignature(privateKey: string, text: string): Uint8Array {
  const signature = sign(null, Buffer.from(text), privateKey)
  if (!proven.has('ed25519')) equal(signByOpenssl(privateKey, text).toString('hex'), signature.toString('hex'))
  proven.add('ed25519')
  return signature
}

/** Both key and text are in files. */
function signByOpenssl(privateKey: string, text: string): Buffer {
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
