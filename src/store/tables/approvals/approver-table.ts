import { UpshotError } from '../../../core/errors.ts'
import type { Approver } from '../../../core/safety/approval.ts'
import { JoinedTable } from '../../connection.ts'
import { approverOwner, type Vault } from '../../vault.ts'
import type { EffectTable, Note } from '../safety/effect-table.ts'
import type { StopTable } from '../safety/stop-table.ts'

interface ApproverRow {
  number: number
  name: string
  sealed: Uint8Array
}

/** Everybody who was ever allowed to decide. A row is sealed, so that no SQL can make one. */
export class ApproverTable extends JoinedTable<{ vault: Vault }> {
  // Index: primary key. There are few people.
  readonly #list = this.db.prepare<[], ApproverRow>('SELECT number, name, sealed FROM approver ORDER BY number')
  readonly #insert = this.db.prepare('INSERT INTO approver (number, name, sealed) VALUES (?, ?, ?)')
  readonly #update = this.db.prepare('UPDATE approver SET sealed = ? WHERE number = ?')

  /** By name, removed ones included. */
  async listApprovers(): Promise<Approver[]> {
    return (await this.#list.all()).map((row) => this.#read(row))
  }

  async add(approver: Approver): Promise<void> {
    const rows = await this.#list.all()
    const present = rows.map((row) => this.#read(row)).filter(({ removedAt }) => removedAt === null)
    const { name, publicKey } = approver
    if (present.some((each) => each.name === name)) {
      throw new UpshotError('conflict', `There is an approver named "${name}" already.`, {
        details: { fix: `Choose another name, or remove it first: "upshot approvers remove ${name}".` },
      })
    }
    const holder = present.find((each) => each.publicKey === publicKey)
    if (holder) {
      throw new UpshotError('conflict', `This is the key of the approver "${holder.name}".`, {
        details: { fix: `Each person needs a key of their own: "upshot approvers key ${name}".` },
      })
    }
    const number = (rows.at(-1)?.number ?? 0) + 1
    await this.#insert.run(number, name, this.#seal(number, approver))
  }

  /** The person as they were; null where nobody has the name. */
  async remove(name: string, now: number): Promise<Approver | null> {
    for (const row of await this.#list.all()) {
      const known = this.#read(row)
      if (known.name !== name || known.removedAt !== null) continue
      await this.#update.run(this.#seal(row.number, { ...known, removedAt: now }), row.number)
      return known
    }
    return null
  }

  #seal(number: number, { name, publicKey, roles, addedAt, removedAt }: Approver): Buffer {
    return this.parts.vault.seal(approverOwner(number), JSON.stringify({ name, publicKey, roles, addedAt, removedAt }))
  }

  /** A row that is not ours stands for a person whom no signature fits. */
  #read({ number, name, sealed }: ApproverRow): Approver {
    try {
      return JSON.parse(this.parts.vault.open(approverOwner(number), sealed))
    } catch {
      return { name, publicKey: '', roles: [], addedAt: 0, removedAt: null }
    }
  }
}

interface Registers {
  approvers: ApproverTable
  effects: EffectTable
  stops: StopTable
}

/**
 * Adds a person, and tells the ledger, whose seals show where somebody takes them out again.
 * `conflict` for a name that is taken.
 */
export async function addApprover({ approvers, effects, stops }: Registers, approver: Approver): Promise<void> {
  await stops.lock()
  await approvers.add(approver)
  await effects.note(describeApprover('approver.add', approver, approver.addedAt))
}

/** Their later words do not count. False for an unknown name. */
export async function removeApprover(
  { approvers, effects, stops }: Registers,
  name: string,
  now: number,
): Promise<boolean> {
  await stops.lock()
  const removed = await approvers.remove(name, now)
  if (removed) await effects.note(describeApprover('approver.remove', removed, now))
  return removed !== null
}

function describeApprover(operation: string, { name, publicKey, roles }: Approver, at: number): Note {
  return { at, phase: 'noted', operation, actor: name, asked: JSON.stringify({ publicKey, roles }) }
}
