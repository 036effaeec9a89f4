import { type AdminSession, type LoginCode, sessionBounds } from '../../../core/access/session.ts'
import type { AdminToken } from '../../../core/access/token.ts'
import { UpshotError } from '../../../core/errors.ts'
import { Table } from '../../connection.ts'

const SESSION = 'id, name, role, cookie_hash, key_hash, address, created_at, seen_at'
const TOKEN = 'id, name, role, hash, created_at, expires_at, last_used_at, revoked_at'

/** Sessions, login codes and tokens of the admin API: small tables, read by hash. */
export class AccessTable extends Table {
  readonly #takeCode = this.db.prepare('DELETE FROM login_code WHERE hash = ? AND expires_at > ?')
  readonly #dropCodes = this.db.prepare('DELETE FROM login_code WHERE expires_at <= ?')
  readonly #dropSessions = this.db.prepare(
    'DELETE FROM admin_session WHERE seen_at <= @idleSince OR created_at <= @madeBefore',
  )
  readonly #insertSession = this.db.prepare(
    `INSERT INTO admin_session (id, name, role, cookie_hash, key_hash, address, created_at, seen_at)
     VALUES (@id, @name, @role, @cookieHash, @keyHash, @address, @createdAt, @seenAt)`,
  )
  readonly #listSessions = this.db.prepare<[{ idleSince: number; madeBefore: number }], AdminSession>(
    `SELECT ${SESSION} FROM admin_session WHERE seen_at > @idleSince AND created_at > @madeBefore ORDER BY id DESC`,
  )
  readonly #insertToken = this.db.prepare(
    `INSERT INTO admin_token (id, name, role, hash, created_at, expires_at, last_used_at, revoked_at)
     VALUES (@id, @name, @role, @hash, @createdAt, @expiresAt, @lastUsedAt, @revokedAt)
     ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING`,
  )

  /** Index: primary key. */
  readonly saveLoginCode = this.write<[LoginCode]>(
    'INSERT INTO login_code (hash, name, role, expires_at) VALUES (@hash, @name, @role, @expiresAt)',
  )

  /** The role and name that a code stands for; null for one that is used, over or unknown. */
  readonly findLoginCode = this.readRow<[codeHash: string, now: number], LoginCode>(
    'SELECT hash, name, role, expires_at FROM login_code WHERE hash = ? AND expires_at > ?',
  )

  /**
   * Takes a code and starts the session, in one commit. False for a code that is used or over.
   * Drops the sessions and codes that are over.
   */
  async startSession(session: AdminSession, codeHash: string): Promise<boolean> {
    if ((await this.#takeCode.run(codeHash, session.createdAt)).changes === 0) return false
    await this.#dropCodes.run(session.createdAt)
    await this.#dropSessions.run(sessionBounds(session.createdAt))
    await this.#insertSession.run(session)
    return true
  }

  /** Also a session that is over; see `isSessionAlive`. Index: the unique one of `cookie_hash`. */
  readonly findSession = this.readRow<[cookieHash: string], AdminSession>(
    `SELECT ${SESSION} FROM admin_session WHERE cookie_hash = ?`,
  )

  /** Newest first. */
  async listSessions(now: number): Promise<AdminSession[]> {
    return await this.#listSessions.all(sessionBounds(now))
  }

  readonly touchSession = this.write('UPDATE admin_session SET seen_at = ? WHERE id = ?', (id: string, now: number) => [
    now,
    id,
  ])

  /** False when it had ended. */
  readonly endSession = this.change<[id: string]>('DELETE FROM admin_session WHERE id = ?')

  /** `conflict` when a token that is not revoked has this name. */
  async saveToken(token: AdminToken): Promise<void> {
    if ((await this.#insertToken.run(token)).changes === 1) return
    throw new UpshotError('conflict', `There is a token named "${token.name}" already.`, {
      details: { fix: 'Choose another name, or revoke that one first.' },
    })
  }

  /** Also a token that is over; see `isTokenAlive`. Index: the unique one of `hash`. */
  readonly findToken = this.readRow<[tokenHash: string], AdminToken>(`SELECT ${TOKEN} FROM admin_token WHERE hash = ?`)

  /** Newest first, revoked ones included. */
  readonly listTokens = this.readRows<[], AdminToken>(`SELECT ${TOKEN} FROM admin_token ORDER BY id DESC`)

  readonly touchToken = this.write(
    'UPDATE admin_token SET last_used_at = ? WHERE id = ?',
    (id: string, now: number) => [now, id],
  )

  /** False when it was revoked or never there. */
  readonly revokeToken = this.change(
    'UPDATE admin_token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
    (id: string, now: number) => [now, id],
  )
}
