import { UpshotError } from '../../../core/errors.ts'
import type { Approver } from '../../../core/safety/approval.ts'
import type { Connection } from '../database/connection.ts'

interface ApproverRow {
  name: string
  public_key: string
  roles: string
  added_at: number
  removed_at: number | null
}

/** People who may decide, known by a key. */
export class ApproverTable {
  readonly #list
  readonly #add
  readonly #remove

  constructor(db: Connection) {
    this.#list = db.prepare<[], ApproverRow>('SELECT * FROM approver ORDER BY name')
    this.#add = db.prepare(
      `INSERT INTO approver (name, public_key, roles, added_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET public_key = excluded.public_key, roles = excluded.roles,
         added_at = excluded.added_at, removed_at = NULL WHERE approver.removed_at IS NOT NULL`,
    )
    this.#remove = db.prepare('UPDATE approver SET removed_at = ? WHERE name = ? AND removed_at IS NULL')
  }

  async list(): Promise<Approver[]> {
    return (await this.#list.all()).map(({ name, public_key, roles, added_at, removed_at }) => ({
      name,
      publicKey: public_key,
      roles: JSON.parse(roles),
      addedAt: added_at,
      removedAt: removed_at,
    }))
  }

  async add({ name, publicKey, roles, addedAt }: Approver): Promise<void> {
    if ((await this.#add.run(name, publicKey, JSON.stringify(roles), addedAt)).changes === 1) return
    throw new UpshotError('conflict', `There is an approver named "${name}" already.`, {
      details: { fix: `Choose another name, or remove it first: "upshot approvers remove ${name}".` },
    })
  }

  async remove(name: string, now: number): Promise<boolean> {
    return (await this.#remove.run(now, name)).changes === 1
  }
}
