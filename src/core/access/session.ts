import type { AccessRole } from './role.ts'

/**
 * A login of a browser. The cookie and the page key are both needed; the store has only their
 * hashes. Times are epoch milliseconds. See decision 47.
 */
export interface AdminSession {
  /** `ses_…` */
  id: string
  /** The user who logged in. */
  name: string
  role: AccessRole
  cookieHash: string
  keyHash: string
  address: string
  createdAt: number
  /** Last request, exact to the minute. */
  seenAt: number
}

/** A one-time code that `upshot dashboard` makes through the database. */
export interface LoginCode {
  hash: string
  name: string
  role: AccessRole
  /** Epoch milliseconds, exclusive. */
  expiresAt: number
}

/** A session ends when idle for 12 h, and after 7 days in any case. */
const IDLE_MS = 12 * 3_600_000
const LIFE_MS = 7 * 86_400_000
/** A login code is valid this long. */
export const LOGIN_CODE_MS = 10 * 60_000
/** `seenAt` and `lastUsedAt` are written again after this time. */
export const SEEN_STEP_MS = 60_000

/** True while a session counts. */
export function isSessionAlive(
  { createdAt, seenAt }: Pick<AdminSession, 'createdAt' | 'seenAt'>,
  now: number,
): boolean {
  // A session that was made while the clock was ahead does not outlive its time.
  return Math.abs(now - seenAt) < IDLE_MS && Math.abs(now - createdAt) < LIFE_MS
}

/** Sessions seen or made before these moments are over. */
export function sessionBounds(now: number): { idleSince: number; madeBefore: number } {
  return { idleSince: now - IDLE_MS, madeBefore: now - LIFE_MS }
}
