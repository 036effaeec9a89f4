import {
  type ApprovalItem,
  type ApprovalTerms,
  type Approver,
  chainHash,
  type Decision,
  seedHash,
} from '../approval.ts'
import { personOf } from './person.ts'
import type { VoteReads } from './verified-votes.ts'
import { checkVote, type VoteRecord } from './vote-record.ts'

/** The words on an approval, and who may speak. */
export interface ProofFacts {
  votes: readonly VoteRecord[]
  /** Everybody who was ever registered; none where words need no signature. */
  approvers: readonly Approver[]
}

/** `by`: the people whose words let an item happen. `fault`: why they do not. */
export type ItemProof = { fault: string; by: null } | { fault: null; by: string[] }

export interface ProofReads extends Pick<VoteReads, 'listVotes'> {
  listApprovalItems(query: { approval: string; after: number; limit: number }): Promise<ApprovalItem[]>
  /** Removed ones included. */
  listApprovers(): Promise<Approver[]>
}

/** Votes of one approval that are read. */
export const MAX_VOTES = 1_000
const ITEMS_A_PAGE = 5_000
/** Below the number of any item, a question's own included. */
const BEFORE_ALL = -1

/** Whether people's words let an item of an approval happen, by its terms and its whole list. */
export class ApprovalProof {
  readonly #terms: ApprovalTerms
  readonly #seed: string
  /** By number of the item. */
  readonly #hashes = new Map<number, string>()
  readonly #numbers = new Map<string, number>()
  /** By the facts that they rest on: a signature is checked once. */
  readonly #agreed = new WeakMap<ProofFacts, Map<string, string[]>>()

  /** `items`: all of them, in their order. */
  constructor(terms: ApprovalTerms, items: readonly ApprovalItem[]) {
    this.#terms = terms
    this.#seed = seedHash(terms)
    let hash = this.#seed
    for (const item of items) {
      hash = chainHash(hash, item)
      this.#hashes.set(item.number, hash)
      this.#numbers.set(hash, item.number)
    }
  }

  /** True where these are the terms, and the item is in the list as it was hashed. */
  holds(terms: ApprovalTerms, item: ApprovalItem): boolean {
    if (seedHash(terms) !== this.#seed) return false
    const before = this.#hashes.get(item.number - 1) ?? this.#seed
    return this.#hashes.get(item.number) === chainHash(before, item)
  }

  /** The whole hashes of the list that begin so. */
  find(digits: string): string[] {
    return [...this.#numbers.keys()].filter((hash) => hash.startsWith(digits))
  }

  get hash(): string {
    return [...this.#hashes.values()].at(-1) ?? this.#seed
  }

  /** The people whose words count and say the same as this one. */
  listAgreed(word: Pick<Decision, 'hash' | 'only' | 'answer'>, facts: ProofFacts): string[] {
    const known = this.#agreed.get(facts) ?? new Map<string, string[]>()
    this.#agreed.set(facts, known)
    const said = describeSaid(word)
    const agreed = known.get(said) ?? this.#findAgreed(said, facts)
    known.set(said, agreed)
    return agreed
  }

  #findAgreed(said: string, { votes, approvers }: ProofFacts): string[] {
    const { id, role, expiresAt } = this.#terms
    const last = new Map<string, VoteRecord>()
    for (const vote of votes) {
      const person = personOf(vote.actor)
      if (vote.approval === id && vote.effectSeq >= (last.get(person)?.effectSeq ?? 0)) last.set(person, vote)
    }
    const agreed = [...last.values()].filter(
      (vote) => vote.verdict === 'approved' && describeSaid(vote) === said && vote.at < expiresAt,
    )
    // One key is one person, whatever names it is given.
    const names = new Map<string, string>()
    for (const vote of agreed) {
      const check = checkVote(vote, { approvers, role, at: vote.at })
      if (check.fault === null) names.set(check.publicKey ?? vote.actor, vote.actor)
    }
    return [...names.values()]
  }

  /**
   * Whether enough words cover the item with this number. `least`: people who have to agree, where
   * that is more than the approval says.
   */
  judge(number: number, facts: ProofFacts, least = 0): ItemProof {
    const needs = Math.max(this.#terms.needs, least)
    const covering = facts.votes.filter((vote) => this.#covers(vote, number))
    const agreed = covering.map((vote) => this.listAgreed(vote, facts))
    const by = agreed.reduce((most, each) => (each.length > most.length ? each : most), [])
    if (by.length >= needs) return { fault: null, by }
    const people = `${needs} ${needs === 1 ? 'person' : 'people'}`
    return {
      fault: `it needs the decisions of ${people}, and ${by.length} ${by.length === 1 ? 'counts' : 'count'}`,
      by: null,
    }
  }

  #covers({ hash, only }: VoteRecord, number: number): boolean {
    const last = this.#numbers.get(hash)
    if (last === undefined || number > last) return false
    return only === null || only.some(({ from, to }) => number >= from && number <= to)
  }
}

/** The list has another content than its hash, which no word covers. */
export const CHANGED_LIST = 'its terms or its list were changed after they were hashed'

/** The proof of an approval, of its whole list. */
export async function loadProof(
  reads: Pick<ProofReads, 'listApprovalItems'>,
  terms: ApprovalTerms,
): Promise<{ proof: ApprovalProof; items: ApprovalItem[] }> {
  const items: ApprovalItem[] = []
  for (let after = BEFORE_ALL; ; after = items.at(-1)?.number ?? after) {
    const page = await reads.listApprovalItems({ approval: terms.id, after, limit: ITEMS_A_PAGE })
    items.push(...page)
    if (page.length < ITEMS_A_PAGE) return { proof: new ApprovalProof(terms, items), items }
  }
}

/** Why people's words do not let an item of an approval happen; null: they do. */
export async function findUnproven(
  reads: ProofReads,
  terms: ApprovalTerms,
  number: number,
  least: number,
): Promise<string | null> {
  const { proof, items } = await loadProof(reads, terms)
  if (items.every((item) => item.number !== number)) return CHANGED_LIST
  const votes = await reads.listVotes({ approval: terms.id, limit: MAX_VOTES })
  return proof.judge(number, { votes, approvers: await reads.listApprovers() }, least).fault
}

function describeSaid({ hash, only, answer }: Pick<Decision, 'hash' | 'only' | 'answer'>): string {
  return JSON.stringify([hash, only, answer])
}
