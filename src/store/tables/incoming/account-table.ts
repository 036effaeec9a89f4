import { UpshotError } from '../../../core/errors.ts'
import type { Account } from '../../../core/service/account.ts'
import { JoinedTable } from '../../connection.ts'
import { accountOwner, type Vault } from '../../vault.ts'

interface AccountRow extends Omit<Account, 'apiKey' | 'fallbackKey' | 'plan' | 'storages'> {
  apiKey: Uint8Array
  fallbackKey: Uint8Array | null
  plan: string
  storages: string
}

export class AccountTable extends JoinedTable<{ vault: Vault }> {
  // Index: primary key, down to the next comment.
  readonly #save = this.db.prepare(
    `INSERT INTO account (name, base_url, api_key, fallback_key, plan, storages, created_at)
     VALUES (@name, @baseUrl, @apiKey, @fallbackKey, @plan, @storages, @createdAt)
     ON CONFLICT (name) DO UPDATE SET base_url = excluded.base_url, api_key = excluded.api_key,
       fallback_key = excluded.fallback_key, plan = excluded.plan, storages = excluded.storages`,
  )
  readonly #remove = this.db.prepare('DELETE FROM account WHERE name = ?')
  // No index: there are few endpoints.
  readonly #users = this.db.pluck<[string], string>(
    'SELECT name FROM endpoint WHERE account = ? AND removed_at IS NULL ORDER BY name',
  )

  /** Adds an account, or changes everything about the one with its name but `createdAt`. */
  async saveAccount(account: Account): Promise<void> {
    const { name, apiKey, fallbackKey, plan, storages } = account
    await this.#save.run({
      ...account,
      apiKey: this.parts.vault.seal(accountOwner(name, 'key'), apiKey),
      fallbackKey: fallbackKey === null ? null : this.parts.vault.seal(accountOwner(name, 'fallback'), fallbackKey),
      plan: JSON.stringify(plan),
      storages: JSON.stringify(storages),
    })
  }

  /** `conflict` while an endpoint uses it, `not_found` without the account. */
  async removeAccount(name: string): Promise<void> {
    const users = await this.#users.all(name)
    if (users.length > 0) {
      throw new UpshotError('conflict', `Account "${name}" is in use by the endpoints ${users.join(', ')}.`, {
        details: {
          fix: 'Give them another one with "upshot endpoints edit <name> --account <account>", or remove them first.',
        },
      })
    }
    if ((await this.#remove.run(name)).changes === 0)
      throw new UpshotError('not_found', `There is no account "${name}".`)
  }

  readonly findAccount = this.readRow<[name: string], AccountRow, Account>(
    'SELECT * FROM account WHERE name = ?',
    (row) => this.#read(row),
  )

  /** By name. */
  readonly listAccounts = this.readRows<[], AccountRow, Account>('SELECT * FROM account ORDER BY name', (row) =>
    this.#read(row),
  )

  #read({ apiKey, fallbackKey, plan, storages, ...row }: AccountRow): Account {
    const open = (use: 'key' | 'fallback', sealed: Uint8Array) =>
      this.parts.vault.open(accountOwner(row.name, use), sealed)
    return {
      ...row,
      apiKey: open('key', apiKey),
      fallbackKey: fallbackKey && open('fallback', fallbackKey),
      plan: JSON.parse(plan),
      storages: JSON.parse(storages),
    }
  }
}
