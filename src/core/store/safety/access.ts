import type { AdminSession, LoginCode } from '../../access/session.ts'
import type { AdminToken } from '../../access/token.ts'

/** A request with an `Idempotency-Key`, and its answer as JSON text; null: none yet. */
export interface KeptAnswer {
  /** Hash of the request. */
  request: string
  answer: string | null
}

/** The first answers are kept for this long. */
export const KEPT_ANSWER_MS = 86_400_000

export interface AccessWrites {
  /** Null for the first request with the caller's key; else that request. */
  beginAnswer(asked: { caller: string; key: string; request: string }, now: number): Promise<KeptAnswer | null>
  /** Keeps the answer; null: the request failed, and the key may be used again. */
  endAnswer(asked: { caller: string; key: string }, answer: string | null): Promise<void>
  saveLoginCode(code: LoginCode): Promise<void>
  /** Takes a code and starts the session, in one commit. False for a code that is used or over. */
  startSession(session: AdminSession, codeHash: string): Promise<boolean>
  /** Records that a session is in use. */
  touchSession(id: string, now: number): Promise<void>
  /** False when it had ended. */
  endSession(id: string): Promise<boolean>
  /** `conflict` when a token that is not revoked has this name. */
  saveToken(token: AdminToken): Promise<void>
  touchToken(id: string, now: number): Promise<void>
  /** False when it was revoked or never there. */
  revokeToken(id: string, now: number): Promise<boolean>
}

export interface AccessReads {
  /** Also a session that is over; see `isSessionAlive`. */
  findSession(cookieHash: string): Promise<AdminSession | null>
  /** The role and name that a code stands for; null for one that is used, over or unknown. */
  findLoginCode(hash: string, now: number): Promise<LoginCode | null>
  /** Newest first. */
  listSessions(now: number): Promise<AdminSession[]>
  /** Also a token that is over; see `isTokenAlive`. */
  findToken(hash: string): Promise<AdminToken | null>
  /** Newest first, revoked ones included. */
  listTokens(): Promise<AdminToken[]>
}
