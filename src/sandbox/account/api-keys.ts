import { z } from 'zod'
import { newId, randomWord } from '../../core/ids.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import type { SandboxClock } from '../state/clock.ts'
import { type Db, statement } from '../state/database.ts'
import { notFound } from '../state/not-found.ts'

export const PERMISSIONS = ['files:read', 'files:delete', 'account:read', 'account:write'] as const
/** A permission that a custom scope may contain. */
export type Permission = (typeof PERMISSIONS)[number]

/**
 * The four scopes of section 5. A custom scope lists permissions and storages (default all three).
 */
export const keyScope = z.union([
  z.enum(['read-only', 'read-write', 'admin']),
  z.strictObject({
    custom: z.array(z.enum(PERMISSIONS)),
    /** The storages they hold for. Default all three. */
    storages: z.array(z.enum(STORAGES)).default([...STORAGES]),
  }),
])
/** The permissions of a key (section 5 of the specification). */
export type KeyScope = z.infer<typeof keyScope>

export const keyInput = z.strictObject({
  /** A name for people, 1 to 100 characters. */
  name: z.string().min(1).max(100),
  /** The permissions. Default `read-write`. */
  scope: keyScope.default('read-write'),
  /** Time of expiry, ISO 8601. Default null: the key never expires. */
  expiresAt: z.iso.datetime({ offset: true }).nullable().default(null),
})
/** The options of a new key. */
export type KeyInput = z.input<typeof keyInput>

/** A key as the account settings show it. */
export interface ApiKey {
  /** `key_…`, safe to log: it is not the credential. */
  id: string
  name: string
  scope: KeyScope
  /** The bearer credential: `sk_sandbox_…`. */
  key: string
  /** ISO 8601, like the other times. */
  createdAt: string
  /** Null: never. */
  expiresAt: string | null
  /** Null unless it is revoked. */
  revokedAt: string | null
  /** Null until its first use. */
  lastUsedAt: string | null
}

interface KeyRow {
  id: string
  name: string
  scope: string
  key: string
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
}

const COLUMNS = `id, name, scope, key, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt,
  last_used_at AS lastUsedAt`

/** The account's API keys. */
export class ApiKeys {
  readonly #db: Db
  readonly #clock: SandboxClock

  constructor(db: Db, clock: SandboxClock) {
    this.#db = db
    this.#clock = clock
  }

  /** Creates a key. The result contains its credential. */
  async create(input: KeyInput): Promise<ApiKey> {
    const { name, scope, expiresAt } = keyInput.parse(input)
    const now = this.#clock.now()
    const row: KeyRow = {
      id: newId('key', now),
      name,
      scope: JSON.stringify(scope),
      key: `sk_sandbox_${randomWord()}`,
      createdAt: now,
      expiresAt: expiresAt === null ? null : Date.parse(expiresAt),
      revokedAt: null,
      lastUsedAt: null,
    }
    statement(
      this.#db,
      `INSERT INTO keys (id, name, scope, key, created_at, expires_at, revoked_at, last_used_at)
         VALUES (@id, @name, @scope, @key, @createdAt, @expiresAt, @revokedAt, @lastUsedAt)`,
    ).run(row)
    return fromRow(row)
  }

  /** All keys, oldest first, revoked ones included. */
  list(): ApiKey[] {
    return statement<[], KeyRow>(this.#db, `SELECT ${COLUMNS} FROM keys ORDER BY rowid`).all().map(fromRow)
  }

  /** Throws `not_found`. */
  get(id: string): ApiKey {
    const row = statement<[string], KeyRow>(this.#db, `SELECT ${COLUMNS} FROM keys WHERE id = ?`).get(id)
    return row ? fromRow(row) : notFound('key', id)
  }

  /** Changes the name or the scope, not the credential. Throws `not_found`. */
  async edit(id: string, change: { name?: string | undefined; scope?: KeyScope | undefined }): Promise<ApiKey> {
    const before = this.get(id)
    const { name = before.name, scope = before.scope } = change
    const valid = keyInput.pick({ name: true, scope: true }).parse({ name, scope })
    statement(this.#db, 'UPDATE keys SET name = ?, scope = ? WHERE id = ?').run(
      valid.name,
      JSON.stringify(valid.scope),
      id,
    )
    return this.get(id)
  }

  /** Revokes a key: requests with it get 401 from now on. Throws `not_found`. */
  async revoke(id: string): Promise<ApiKey> {
    this.get(id)
    statement(this.#db, 'UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?').run(this.#clock.now(), id)
    return this.get(id)
  }

  /**
   * Finds the key of a credential and saves the time of use. Undefined if it is unknown, revoked or
   * expired.
   */
  use(credential: string): ApiKey | undefined {
    const now = this.#clock.now()
    const row = statement<[number, string, number], KeyRow>(
      this.#db,
      `UPDATE keys SET last_used_at = ? WHERE key = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
         RETURNING ${COLUMNS}`,
    ).get(now, credential, now)
    return row && fromRow(row)
  }
}

/** Whether a scope includes a permission, and, if `storage` is given, includes it there. */
export function permits(scope: KeyScope, permission: Permission, storage?: StorageName): boolean {
  switch (scope) {
    case 'read-only':
      return permission === 'files:read'
    case 'read-write':
      return permission === 'files:read' || permission === 'files:delete'
    case 'admin':
      return true
    default:
      return scope.custom.includes(permission) && (storage === undefined || scope.storages.includes(storage))
  }
}

function fromRow(row: KeyRow): ApiKey {
  const time = (moment: number | null) => (moment === null ? null : isoTime(moment))
  return {
    id: row.id,
    name: row.name,
    scope: keyScope.parse(JSON.parse(row.scope)),
    key: row.key,
    createdAt: isoTime(row.createdAt),
    expiresAt: time(row.expiresAt),
    revokedAt: time(row.revokedAt),
    lastUsedAt: time(row.lastUsedAt),
  }
}
