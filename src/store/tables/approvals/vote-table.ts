import type { VoteReads } from '../../../core/safety/votes/verified-votes.ts'
import type { VoteRecord } from '../../../core/safety/votes/vote-record.ts'
import { Table } from '../../connection.ts'

interface VoteRow extends Omit<VoteRecord, 'only'> {
  /** The numbers of the approved items as JSON text; null for all. */
  only: string | null
}

/** A word as the ledger has it; `proof` is its signature in Base64. */
interface SignedWord {
  workflow: string
  /** Of the approval, in epoch milliseconds. */
  openedAt: number
  /** Of the approval. */
  id: string
  actor: string
  proof: string
}

const COLUMNS = 'approval, actor, verdict, reason, hash, items AS only, answer, at, signature, effect_seq'

/** The words of people on approvals. A person has one word, the last one. */
export class VoteTable extends Table {
  // Index: primary key, for all.
  readonly #save = this.db.prepare(
    `INSERT INTO approval_vote (approval, actor, verdict, reason, hash, items, answer, at, signature,
       effect_seq)
     VALUES (@approval, @actor, @verdict, @reason, @hash, @only, @answer, @at, @signature, @effectSeq)
     ON CONFLICT (approval, actor) DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason,
       hash = excluded.hash, items = excluded.items, answer = excluded.answer, at = excluded.at,
       signature = excluded.signature, effect_seq = excluded.effect_seq`,
  )
  readonly #list = this.db.prepare<[string, string, number], VoteRow>(
    `SELECT ${COLUMNS} FROM approval_vote WHERE (approval, actor) > (?, ?) ORDER BY approval, actor LIMIT ?`,
  )
  readonly #listOf = this.db.prepare<[string, number], VoteRow>(
    `SELECT ${COLUMNS} FROM approval_vote WHERE approval = ? ORDER BY actor LIMIT ?`,
  )

  /** The ledger row of a signed word, be it the last one or not. Index: effect_workflow. */
  readonly findSaid = this.readValue<[SignedWord], number>(
    `SELECT seq FROM effect WHERE workflow = @workflow AND at >= @openedAt AND phase = 'decided'
       AND approval = @id AND actor = @actor AND proof = @proof LIMIT 1`,
  )

  async save({ only, ...vote }: VoteRecord): Promise<void> {
    await this.#save.run({ ...vote, only: only === null ? null : JSON.stringify(only) })
  }

  async listVotes({
    approval,
    after = { approval: '', actor: '' },
    limit,
  }: Parameters<VoteReads['listVotes']>[0]): Promise<VoteRecord[]> {
    const rows =
      approval === undefined
        ? await this.#list.all(after.approval, after.actor, limit)
        : await this.#listOf.all(approval, limit)
    return rows.map(({ only, ...vote }) => ({ ...vote, only: only === null ? null : JSON.parse(only) }))
  }
}
