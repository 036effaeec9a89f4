import { describeVote } from '../approval.ts'
import type { EffectRecord } from '../effect.ts'
import { fingerprintOf, isSignedBy, readWord, type VoteRecord } from './vote-record.ts'

/** A vote in the order of approvals and people. */
type VoteMark = Pick<VoteRecord, 'approval' | 'actor'>

/** The reads of a store that a verification of votes needs. */
export interface VoteReads {
  /** In the order of approvals and people; of one approval, where it is named. */
  listVotes(query: { approval?: string; after?: VoteMark; limit: number }): Promise<VoteRecord[]>
  listEffects(query: { after: number; limit: number }): Promise<EffectRecord[]>
}

export interface VoteSigner {
  name: string
  /** Such as `SHA256:…`, to be compared with that of the person's own key. */
  key: string
  words: number
}

const VOTES_A_PAGE = 1_000

/**
 * Checks the signature of each word in the ledger, and compares the newest word of each person with
 * their vote. Add every `decided` row first.
 */
export class VerifiedVotes {
  readonly faults: string[] = []
  /** Words in the ledger, and those of them with a good signature. */
  words = 0
  signed = 0
  readonly #store: VoteReads
  readonly #signers = new Map<string, VoteSigner>()

  constructor(store: VoteReads) {
    this.#store = store
  }

  get signers(): VoteSigner[] {
    return [...this.#signers.values()]
  }

  /** Takes a `decided` row. */
  async add(row: EffectRecord): Promise<void> {
    this.words += 1
    // The signature covers text that a person erased; the seal covers the word.
    if (row.erased !== null) return
    const name = nameWord(row)
    const word = readWord(row)
    if (word === null) return void this.faults.push(`row ${row.seq}: the decision of ${name} cannot be read`)
    const { publicKey } = word
    if (publicKey === null ? word.signature !== null : !isSignedBy(word, publicKey))
      this.faults.push(`row ${row.seq}: the signature does not fit the decision of ${name}`)
    else if (publicKey !== null) this.#countSigner(word.actor, publicKey)
    const votes = await this.#store.listVotes({ approval: word.approval, limit: VOTES_A_PAGE })
    const vote = votes.find(({ actor }) => actor === word.actor)
    if (vote === undefined || vote.effectSeq < row.seq) this.faults.push(`row ${row.seq}: the vote of ${name} is gone`)
    else if (vote.effectSeq === row.seq && !isSameVote(vote, { ...word, at: row.at }))
      this.faults.push(`row ${row.seq}: the vote of ${name} was changed`)
  }

  /** Looks for votes without a row; those of rows up to `prunedTo` may have none. */
  async end(prunedTo: number): Promise<void> {
    for (let after: VoteMark | undefined; ; ) {
      const votes = await this.#store.listVotes({ ...(after && { after }), limit: VOTES_A_PAGE })
      for (const vote of votes) if (vote.effectSeq > prunedTo) await this.#findRow(vote)
      after = votes.at(-1)
      if (votes.length < VOTES_A_PAGE) return
    }
  }

  async #findRow(vote: VoteRecord): Promise<void> {
    const { approval, actor, effectSeq } = vote
    const [row] = await this.#store.listEffects({ after: effectSeq - 1, limit: 1 })
    const isOwn = row?.seq === effectSeq && row.phase === 'decided' && row.approval === approval && row.actor === actor
    if (!isOwn) this.faults.push(`row ${effectSeq}: the vote of ${nameWord(vote)} is not in the ledger`)
  }

  #countSigner(name: string, publicKey: string): void {
    this.signed += 1
    const id = `${name} ${publicKey}`
    const known = this.#signers.get(id)
    if (known) known.words += 1
    else this.#signers.set(id, { name, key: fingerprintOf(publicKey), words: 1 })
  }
}

function isSameVote(one: Omit<VoteRecord, 'effectSeq'>, other: Omit<VoteRecord, 'effectSeq'>): boolean {
  const describe = ({ at, ...vote }: typeof one) =>
    JSON.stringify([at, describeVote(vote), vote.signature && [...vote.signature]])
  return describe(one) === describe(other)
}

function nameWord({ actor, approval }: Pick<EffectRecord, 'actor' | 'approval'>): string {
  return `"${actor}" on ${approval}`
}
