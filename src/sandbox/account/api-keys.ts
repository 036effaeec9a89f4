import { z } from 'zod'
import { newId, randomWord } from '../../core/ids.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import type { SandboxClock } from '../state/clock.ts'
import type { Db } from '../state/database.ts'
import { notFound } from '../state/not-found.ts'
import { statement } from '../state/statement.ts'

export const PERMISSIONS = ['files:read', 'files:delete', 'account:read', 'account:write'] as const
/** One thing that a key may do. */
export type Permission = (typeof PERMISSIONS)[number]

/** The four scopes of section 5. Custom: any permissions, on any storages (default all). */
export const keyScope = z.union([
  z.enum(['read-only', 'read-write', 'admin']),
  z.strictObject({
    custom: z.array(z.enum(PERMISSIONS)),
    storages: z.array(z.enum(STORAGES)).default([...STORAGES]),
  }),
])
/** What a key may do (section 5 of the specification). */
export type KeyScope = z.infer<typeof keyScope>

export const keyInput = z.strictObject({
  name: z.string().min(1).max(100),
  scope: keyScope.default('read-write'),
  /** ISO 8601, or null for never. */
  expiresAt: z.iso.datetime({ offset: true }).nullable().default(null),
})
/** What a key is created with. */
export type KeyInput = z.input<typeof keyInput>

/** A key as the account settings show it. */
export interface ApiKey {
  /** `key_…`; names the key without being it. */
  id: string
  name: string
  scope: KeyScope
  /** What is sent as the bearer credential: `sk_sandbox_…`. */
  key: string
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
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

  /** Oldest first, revoked ones too. */
  list(): ApiKey[] {
    return statement<[], KeyRow>(this.#db, `SELECT ${COLUMNS} FROM keys ORDER BY rowid`).all().map(fromRow)
  }

  /** Throws `not_found`. */
  get(id: string): ApiKey {
    const row = statement<[string], KeyRow>(this.#db, `SELECT ${COLUMNS} FROM keys WHERE id = ?`).get(id)
    return row ? fromRow(row) : notFound('key', id)
  }

  /** Changes name or scope; the credential stays. Throws `not_found`. */
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

  /** From now on the key is refused with 401. Throws `not_found`. */
  async revoke(id: string): Promise<ApiKey> {
    this.get(id)
    statement(this.#db, 'UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?').run(this.#clock.now(), id)
    return this.get(id)
  }

  /**
   * The key a request came with, noted as used; undefined when it is unknown, revoked or expired.
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

/** Whether a key may do this at all, or, with a storage given, there. */
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
