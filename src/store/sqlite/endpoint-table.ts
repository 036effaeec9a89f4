import type { Database } from 'better-sqlite3'
import type { Endpoint } from '../../core/endpoint.ts'
import { UpshotError } from '../../core/errors.ts'
import { signatureScheme } from '../../core/signature.ts'
import type { Vault } from '../vault.ts'

interface EndpointRow {
  id: string
  name: string
  path: string
  account: string
  events: string
  scheme: string
  status: Endpoint['status']
  created_at: number
}

interface SecretRow {
  sealed: Uint8Array
  active_from: number
  until: number | null
}

/** Endpoints with their secrets, sealed in the rows. */
export class EndpointTable {
  readonly #vault: Vault
  readonly #insert
  readonly #insertSecret
  readonly #update
  readonly #deleteSecrets
  readonly #list
  readonly #secrets
  readonly #version
  readonly #raiseVersion
  #isChecked = false
  #cache = { version: -1, byPath: new Map<string, Endpoint>() }

  constructor(db: Database, vault: Vault) {
    this.#vault = vault
    // Index: the unique ones of name and path.
    this.#insert = db.prepare(
      `INSERT INTO endpoint (id, name, path, account, events, scheme, status, created_at)
       VALUES (@id, @name, @path, @account, @events, @scheme, @status, @createdAt) ON CONFLICT (name) DO NOTHING`,
    )
    this.#insertSecret = db.prepare(
      'INSERT INTO endpoint_secret (endpoint_id, position, sealed, active_from, until) VALUES (?, ?, ?, ?, ?)',
    )
    // Index: primary key.
    this.#update = db.prepare('UPDATE endpoint SET account = ?, events = ?, scheme = ?, status = ? WHERE id = ?')
    this.#deleteSecrets = db.prepare('DELETE FROM endpoint_secret WHERE endpoint_id = ?')
    this.#list = db.prepare<[], EndpointRow>('SELECT * FROM endpoint ORDER BY created_at, id')
    // Index: primary key.
    this.#secrets = db.prepare<[string], SecretRow>(
      'SELECT sealed, active_from, until FROM endpoint_secret WHERE endpoint_id = ? ORDER BY position',
    )
    this.#version = db.prepare<[], number>('SELECT version FROM endpoint_version').pluck()
    this.#raiseVersion = db.prepare('UPDATE endpoint_version SET version = version + 1')
  }

  add(endpoint: Endpoint): void {
    const { changes } = this.#insert.run({
      ...endpoint,
      events: JSON.stringify(endpoint.events),
      scheme: JSON.stringify(endpoint.scheme),
    })
    if (changes === 0) {
      throw new UpshotError('conflict', `There is an endpoint named "${endpoint.name}" already. Choose another name.`)
    }
    this.#saveSecrets(endpoint)
  }

  update(endpoint: Endpoint): void {
    const { id, account, events, scheme, status } = endpoint
    const values = [account, JSON.stringify(events), JSON.stringify(scheme), status, id]
    if (this.#update.run(...values).changes === 0) {
      throw new UpshotError('not_found', `There is no endpoint "${endpoint.name}" any more.`)
    }
    this.#deleteSecrets.run(id)
    this.#saveSecrets(endpoint)
  }

  /** Read for each delivery, so kept in memory until this or another process changes an endpoint. */
  find(path: string): Endpoint | null {
    return this.#fresh().get(path) ?? null
  }

  list(): Endpoint[] {
    return [...this.#fresh().values()]
  }

  #saveSecrets({ id, secrets }: Endpoint): void {
    secrets.forEach(({ value, activeFrom, until }, position) => {
      this.#insertSecret.run(id, position, this.#vault.seal(id, value), activeFrom, until)
    })
    this.#raiseVersion.run()
    this.#isChecked = false
  }

  #fresh(): Map<string, Endpoint> {
    if (this.#isChecked) return this.#cache.byPath
    const version = this.#version.get() ?? 0
    if (version !== this.#cache.version) {
      const endpoints = this.#list.all().map((row) => this.#read(row))
      this.#cache = { version, byPath: new Map(endpoints.map((endpoint) => [endpoint.path, endpoint])) }
    }
    // Asking SQLite once a turn is enough: what another process commits within it could as well have come after.
    this.#isChecked = true
    setImmediate(() => {
      this.#isChecked = false
    })
    return this.#cache.byPath
  }

  #read(row: EndpointRow): Endpoint {
    return {
      id: row.id,
      name: row.name,
      path: row.path,
      account: row.account,
      events: JSON.parse(row.events),
      scheme: signatureScheme.parse(JSON.parse(row.scheme)),
      secrets: this.#secrets.all(row.id).map((secret) => ({
        value: this.#vault.open(row.id, secret.sealed),
        activeFrom: secret.active_from,
        until: secret.until,
      })),
      status: row.status,
      createdAt: row.created_at,
    }
  }
}
