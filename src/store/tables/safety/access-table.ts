import { type AdminSession, type LoginCode, sessionBounds } from '../../../core/access/session.ts'
import type { AdminToken } from '../../../core/access/token.ts'
import { UpshotError } from '../../../core/errors.ts'
import { Table } from '../../connection.ts'

const SESSION = 'id, name, role, cookie_hash, key_hash, address, created_at, seen_at'
const TOKEN = 'id, name, role, hash, created_at, expires_at, last_used_at, revoked_at'

/** Sessions, login codes and tokens of the admin API: small tables, read by hash. */
export class AccessTable extends Table {
  /** Index: primary key. */
  readonly #codes = {
    insert: this.db.prepare(
      'INSERT INTO login_code (hash, name, role, expires_at) VALUES (@hash, @name, @role, @expiresAt)',
    ),
    find: this.db.prepare<[string, number], LoginCode>(
      'SELECT hash, name, role, expires_at FROM login_code WHERE hash = ? AND expires_at > ?',
    ),
    take: this.db.prepare('DELETE FROM login_code WHERE hash = ? AND expires_at > ?'),
    dropOver: this.db.prepare('DELETE FROM login_code WHERE expires_at <= ?'),
  }
  /** Index: the unique one of `cookie_hash`, and the primary key. */
  readonly #sessions = {
    insert: this.db.prepare(
      `INSERT INTO admin_session (id, name, role, cookie_hash, key_hash, address, created_at, seen_at)
       VALUES (@id, @name, @role, @cookieHash, @keyHash, @address, @createdAt, @seenAt)`,
    ),
    find: this.db.prepare<[string], AdminSession>(`SELECT ${SESSION} FROM admin_session WHERE cookie_hash = ?`),
    list: this.db.prepare<[{ idleSince: number; madeBefore: number }], AdminSession>(
      `SELECT ${SESSION} FROM admin_session WHERE seen_at > @idleSince AND created_at > @madeBefore ORDER BY id DESC`,
    ),
    touch: this.db.prepare('UPDATE admin_session SET seen_at = ? WHERE id = ?'),
    drop: this.db.prepare('DELETE FROM admin_session WHERE id = ?'),
    dropOver: this.db.prepare('DELETE FROM admin_session WHERE seen_at <= @idleSince OR created_at <= @madeBefore'),
  }
  /** Index: the unique one of `hash`, and the primary key. */
  readonly #tokens = {
    insert: this.db.prepare(
      `INSERT INTO admin_token (id, name, role, hash, created_at, expires_at, last_used_at, revoked_at)
       VALUES (@id, @name, @role, @hash, @createdAt, @expiresAt, @lastUsedAt, @revokedAt)
       ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING`,
    ),
    find: this.db.prepare<[string], AdminToken>(`SELECT ${TOKEN} FROM admin_token WHERE hash = ?`),
    list: this.db.prepare<[], AdminToken>(`SELECT ${TOKEN} FROM admin_token ORDER BY id DESC`),
    touch: this.db.prepare('UPDATE admin_token SET last_used_at = ? WHERE id = ?'),
    revoke: this.db.prepare('UPDATE admin_token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL'),
  }

  async saveLoginCode(code: LoginCode): Promise<void> {
    await this.#codes.insert.run(code)
  }

  /** The role and name that a code stands for; null for one that is used, over or unknown. */
  async findLoginCode(codeHash: string, now: number): Promise<LoginCode | null> {
    return (await this.#codes.find.get(codeHash, now)) ?? null
  }

  /**
   * Takes a code and starts the session, in one commit. False for a code that is used or over.
   * Drops the sessions and codes that are over.
   */
  async startSession(session: AdminSession, codeHash: string): Promise<boolean> {
    if ((await this.#codes.take.run(codeHash, session.createdAt)).changes === 0) return false
    await this.#codes.dropOver.run(session.createdAt)
    await this.#sessions.dropOver.run(sessionBounds(session.createdAt))
    await this.#sessions.insert.run(session)
    return true
  }

  /** Also a session that is over; see `isSessionAlive`. */
  async findSession(cookieHash: string): Promise<AdminSession | null> {
    return (await this.#sessions.find.get(cookieHash)) ?? null
  }

  /** Newest first. */
  async listSessions(now: number): Promise<AdminSession[]> {
    return await this.#sessions.list.all(sessionBounds(now))
  }

  async touchSession(id: string, now: number): Promise<void> {
    await this.#sessions.touch.run(now, id)
  }

  /** False when it had ended. */
  async endSession(id: string): Promise<boolean> {
    return (await this.#sessions.drop.run(id)).changes === 1
  }

  /** `conflict` when a token that is not revoked has this name. */
  async saveToken(token: AdminToken): Promise<void> {
    if ((await this.#tokens.insert.run(token)).changes === 1) return
    throw new UpshotError('conflict', `There is a token named "${token.name}" already.`, {
      details: { fix: 'Choose another name, or revoke that one first.' },
    })
  }

  /** Also a token that is over; see `isTokenAlive`. */
  async findToken(tokenHash: string): Promise<AdminToken | null> {
    return (await this.#tokens.find.get(tokenHash)) ?? null
  }

  /** Newest first, revoked ones included. */
  async listTokens(): Promise<AdminToken[]> {
    return await this.#tokens.list.all()
  }

  async touchToken(id: string, now: number): Promise<void> {
    await this.#tokens.touch.run(now, id)
  }

  /** False when it was revoked or never there. */
  async revokeToken(id: string, now: number): Promise<boolean> {
    return (await this.#tokens.revoke.run(now, id)).changes === 1
  }
}
