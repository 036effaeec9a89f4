import { hash } from 'node:crypto'
import { UpshotError } from '../errors.ts'
import { newId, randomWord } from '../ids.ts'
import type { AccessRole } from './role.ts'

/** A key for scripts. It is shown once; the store has its hash. Times are epoch milliseconds. */
export interface AdminToken {
  /** `tok_…` */
  id: string
  /** Chosen by its maker; the audit names it. */
  name: string
  role: AccessRole
  hash: string
  createdAt: number
  /** Exclusive; null: never. */
  expiresAt: number | null
  /** Exact to the minute; null: never used. */
  lastUsedAt: number | null
  revokedAt: number | null
}

const NAME = /^[\w.-]{1,60}$/

/** Makes a token; `secret` is the text to give to its user, once. */
export function planToken(
  { name, role, expiresAt }: Pick<AdminToken, 'name' | 'role' | 'expiresAt'>,
  now: number,
): { token: AdminToken; secret: string } {
  if (!NAME.test(name)) {
    throw new UpshotError('invalid_request', `"${name}" is not a token name. Use letters, digits, "_", "." and "-".`)
  }
  const secret = newTokenSecret()
  const times = { createdAt: now, expiresAt, lastUsedAt: null, revokedAt: null }
  return { token: { id: newId('tok', now), name, role, hash: hashSecret(secret), ...times }, secret }
}

/** The text of a token: 160 random bits. Its prefix lets scanners of leaked secrets find it. */
export function newTokenSecret(): string {
  return `upshot_${randomWord()}`
}

/** True while a token counts. */
export function isTokenAlive({ expiresAt, revokedAt }: AdminToken, now: number): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt)
}

/** SHA-256 in hex. Secrets of 160 random bits need no slow hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}
