import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UpshotError } from '../core/errors.ts'

/** Encrypts secrets before they are stored. A sealed value only opens for the same `owner`. */
export interface Vault {
  seal(owner: string, secret: string): Buffer
  open(owner: string, sealed: Uint8Array): string
}

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** Stands for a key that is lost: its vault opens nothing, and seals nothing. */
export const NO_KEY = Buffer.alloc(0)

/** A vault on AES-256-GCM with a key of 32 bytes. A sealed value is IV, tag, ciphertext. */
export function createVault(key: Buffer): Vault {
  const requireKey = () => {
    if (key.length === 0) throw describeLostKey('secret.key in the data directory')
  }
  return {
    seal(owner, secret) {
      requireKey()
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(owner))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), text])
    },
    open(owner, sealed) {
      requireKey()
      try {
        const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES)).setAAD(Buffer.from(owner))
        decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
        return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      } catch (cause) {
        throw new UpshotError(
          'invalid_config',
          'A stored secret does not open with this key. Start with the key it was sealed with: ' +
            'the key file of this data directory, or the same UPSHOT_SECRET_KEY. ' +
            'If "upshot db reseal" was interrupted, run it again.',
          { cause },
        )
      }
    },
  }
}

/** The refusal of all that needs the key of an existing database. */
export function describeLostKey(file: string): UpshotError {
  return new UpshotError('invalid_config', `The key of this database is missing: there is no ${file}.`, {
    fix:
      'Put it back from its copy, or set UPSHOT_SECRET_KEY to its text. ' +
      'Without a copy, see "A lost key" in docs/operating.md.',
  })
}

/** Parses a key: 32 bytes in base64 or hex. Throws `invalid_config`, which names `source`. */
export function parseVaultKey(text: string, source: string): Buffer {
  const trimmed = text.trim()
  const key = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64')
  if (key.length === KEY_BYTES) return key
  throw new UpshotError('invalid_config', `${source} must be 32 bytes in base64 or hex: "openssl rand -base64 32".`)
}

export function makeVaultKey(): Buffer {
  return randomBytes(KEY_BYTES)
}

/** The key in `file`, which the first call creates. */
export function loadVaultKey(file: string): Buffer {
  if (existsSync(file)) return readVaultKey(file)
  const key = makeVaultKey()
  // Another process may create the file first; then its key counts.
  try {
    writeVaultKey(file, key)
    return key
  } catch (error) {
    if (existsSync(file)) return readVaultKey(file)
    throw error
  }
}

export function readVaultKey(file: string): Buffer {
  return parseVaultKey(readText(file), file)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : ''
    throw new UpshotError('invalid_config', `The key file ${file} cannot be read${code}.`, {
      cause,
      fix: 'Make it a file of the user of the app, with mode 600.',
    })
  }
}

/** Creates the file with mode 600 and syncs it; throws if there is one. */
export function writeVaultKey(file: string, key: Buffer): void {
  writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  chmodSync(file, 0o600)
  syncFile(dirname(file))
}

/** Flushes a file to disk, or the names in a folder. */
export function syncFile(path: string): void {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** The vault owner of a key: its account and use. No endpoint id begins like this. */
export function accountOwner(account: string, use: 'key' | 'fallback'): string {
  return `account ${use} ${account}`
}

/** The vault owner of a capture: its own row. */
export function captureOwner(endpointId: string, id: string): string {
  return `capture ${endpointId} ${id}`
}

/** The owner that the vault binds a key of the chain to. */
export function sealKeyOwner(number: number | string): string {
  return `effect key ${number}`
}

/** The owner that the vault binds an approver to. */
export function approverOwner(number: number | string): string {
  return `approver ${number}`
}

/** The owner that the vault binds the secret of a hook to. */
export function hookOwner(id: string): string {
  return `hook ${id}`
}

/** The owner of the key that makes the tokens of hooks. */
export const HOOK_KEY_OWNER = 'hook key'
