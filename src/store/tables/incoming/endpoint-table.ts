import { UpshotError } from '../../../core/errors.ts'
import {
  describeTakenEndpoint,
  type Endpoint,
  type EndpointName,
  type EndpointUse,
  type SecretUse,
} from '../../../core/incoming/endpoint.ts'
import { DEFAULT_SCHEME } from '../../../core/incoming/signature.ts'
import { JoinedTable, Table } from '../../connection.ts'
import type { Vault } from '../../vault.ts'

interface EndpointRow extends Omit<Endpoint, 'events' | 'scheme' | 'secrets'> {
  events: string
  scheme: string
}

interface SecretRow extends Omit<Endpoint['secrets'][number], 'value'> {
  endpointId: string
  sealed: Uint8Array
}

/** Endpoints, with their secrets sealed. */
export class EndpointTable extends JoinedTable<{ vault: Vault }> {
  // Index: endpoint_name, and the one of `path`.
  readonly #insert = this.db.prepare(
    `INSERT INTO endpoint (id, name, path, account, events, scheme, status, created_at, revision)
     VALUES (@id, @name, @path, @account, @events, @scheme, @status, @createdAt, @revision)
     ON CONFLICT (name) WHERE removed_at IS NULL DO NOTHING`,
  )
  readonly #insertAccount = this.db.prepare('INSERT INTO event_account (name) VALUES (?) ON CONFLICT (name) DO NOTHING')
  // Index: primary key, down to the next comment. A known secret keeps its `last_used_at`.
  readonly #saveSecret = this.db.prepare(
    `INSERT INTO endpoint_secret (endpoint_id, position, sealed, active_from, until) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (endpoint_id, position) DO UPDATE
       SET sealed = excluded.sealed, active_from = excluded.active_from, until = excluded.until`,
  )
  readonly #update = this.db.prepare(
    `UPDATE endpoint SET account = ?, events = ?, scheme = ?, status = ?, revision = revision + 1
     WHERE id = ? AND revision = ? AND removed_at IS NULL`,
  )
  readonly #remove = this.db.prepare(
    `UPDATE endpoint SET removed_at = ?, status = 'disabled' WHERE id = ? AND removed_at IS NULL`,
  )
  readonly #exists = this.db.pluck<[string], number>('SELECT 1 FROM endpoint WHERE id = ? AND removed_at IS NULL')
  readonly #dropSecrets = this.db.prepare(
    `DELETE FROM endpoint_secret WHERE endpoint_id = ? AND NOT (${this.db.sql.isOneOf('position', 'bigint')})`,
  )
  // No index: every active endpoint is read.
  readonly #secrets = this.db.prepare<[], SecretRow>(
    'SELECT endpoint_id, position, sealed, active_from, until FROM endpoint_secret ORDER BY position',
  )
  readonly #list = this.db.prepare<[], EndpointRow>(
    `SELECT id, name, path, account, events, scheme, status, created_at, revision FROM endpoint
     WHERE removed_at IS NULL ORDER BY created_at, id`,
  )
  readonly #raise = this.db.prepare('UPDATE endpoint_version SET version = version + 1')

  /** `conflict` for a name that is taken. */
  async addEndpoint(endpoint: Endpoint): Promise<void> {
    const { changes } = await this.#insert.run({
      ...endpoint,
      events: JSON.stringify(endpoint.events),
      scheme: JSON.stringify(endpoint.scheme),
    })
    if (changes === 0) {
      throw describeTakenEndpoint(endpoint.name)
    }
    await this.#saveSecrets(endpoint)
  }

  async update(endpoint: Endpoint): Promise<void> {
    const { id, name, account, events, scheme, status, revision } = endpoint
    const values = [account, JSON.stringify(events), JSON.stringify(scheme), status, id, revision]
    if ((await this.#update.run(...values)).changes === 0) {
      if ((await this.#exists.get(id)) === undefined) throw describeGone(name)
      throw new UpshotError('conflict', `Endpoint "${name}" was changed by somebody else in the meantime.`, {
        details: { fix: 'Run the command again: it then builds on that change.' },
      })
    }
    await this.#dropSecrets.run(
      id,
      endpoint.secrets.map(({ position }) => position),
    )
    await this.#saveSecrets(endpoint)
  }

  async remove({ id, name }: Pick<Endpoint, 'id' | 'name'>, now: number): Promise<void> {
    if ((await this.#remove.run(now, id)).changes === 0) throw describeGone(name)
    await this.#dropSecrets.run(id, [])
    await this.#raise.run()
  }

  /** By position; exact to the minute. */
  readonly listSecretUses = this.readRows<[endpointId: string], SecretUse>(
    'SELECT position, last_used_at FROM endpoint_secret WHERE endpoint_id = ? ORDER BY position',
  )

  /** When each endpoint last took a delivery, to the minute; without those that never did. */
  readonly listEndpointUses = this.readRows<[], EndpointUse>(
    `SELECT endpoint_id, max(last_used_at) AS last_used_at FROM endpoint_secret
     WHERE last_used_at IS NOT NULL GROUP BY endpoint_id`,
  )

  /** Every endpoint, removed ones included; oldest first. */
  readonly listEndpointNames = this.readRows<[], EndpointName>(
    'SELECT id, name, removed_at FROM endpoint ORDER BY created_at, id',
  )

  /** By path, oldest first. */
  async load(): Promise<Map<string, Endpoint>> {
    const rows = await this.#list.all()
    // One question for all: thousands of endpoints cost thousands of rounds else.
    const secrets = Map.groupBy(await this.#secrets.all(), ({ endpointId }) => endpointId)
    const endpoints = rows.map((row) => this.#read(row, secrets.get(row.id) ?? []))
    return new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]))
  }

  async #saveSecrets({ id, account, secrets }: Endpoint): Promise<void> {
    await this.#insertAccount.run(account)
    for (const { position, value, activeFrom, until } of secrets) {
      await this.#saveSecret.run(id, position, this.parts.vault.seal(id, value), activeFrom, until)
    }
    await this.#raise.run()
  }

  #read({ events, scheme, ...row }: EndpointRow, secrets: readonly SecretRow[]): Endpoint {
    return {
      ...row,
      events: JSON.parse(events),
      scheme: { ...DEFAULT_SCHEME, ...JSON.parse(scheme) },
      secrets: secrets.map(({ endpointId, sealed, ...secret }) => ({
        ...secret,
        value: this.parts.vault.open(endpointId, sealed),
      })),
    }
  }
}

function describeGone(name: string): UpshotError {
  return new UpshotError('not_found', `There is no endpoint "${name}" any more.`)
}

/** A secret's row is written at most once in this time. */
const WRITE_EVERY_MS = 60_000
/** The clocks of processes differ by less. */
const MAX_AHEAD_MS = 3_600_000

/** Records when each secret was last used, to the minute. A watcher of SQLite's group commit. */
export class SecretUses extends Table {
  readonly #writtenAt = new Map<string, number>()
  // Index: primary key. Another process may have recorded a later use; one far ahead is of a clock
  // that was set back since.
  readonly #write = this.db.prepare<[{ endpointId: string; position: number; at: number; ahead: number }]>(
    `UPDATE endpoint_secret SET last_used_at = @at
     WHERE endpoint_id = @endpointId AND position = @position
       AND (coalesce(last_used_at, 0) < @at OR last_used_at > @ahead)`,
  )

  async note(endpointId: string, position: number, at: number): Promise<void> {
    const key = `${endpointId} ${position}`
    if (Math.abs(at - (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY)) < WRITE_EVERY_MS) return
    await this.#write.run({ endpointId, position, at, ahead: at + MAX_AHEAD_MS })
    this.#writtenAt.set(key, at)
  }
  /** The rollback may have undone a recorded use, so the next use is recorded again. */
  rolledBack(): void {
    this.#writtenAt.clear()
  }
}
