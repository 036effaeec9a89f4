import { type Decision, QUESTION } from '../../../core/safety/approval.ts'
import {
  ApprovalProof,
  CHANGED_LIST,
  type ItemProof,
  MAX_VOTES,
  type ProofFacts,
} from '../../../core/safety/votes/approval-proof.ts'
import { JoinedTable } from '../../connection.ts'
import { type ApprovalSearch, type ItemRow, readItem, readTerms } from './approval-search.ts'
import type { ApprovalTable } from './approval-table.ts'
import type { ApproverTable } from './approver-table.ts'
import type { VoteTable } from './vote-table.ts'

interface ProofTables {
  approvals: ApprovalTable
  approvalSearch: ApprovalSearch
  approvers: ApproverTable
  votes: VoteTable
}

/** Approvals whose hashes and words are kept. */
const KEPT = 4
const ALL = 1_000_000_000

/** Whether people's words let an item happen, whatever its row says. See decision 97. */
export class ApprovalProofs extends JoinedTable<ProofTables> {
  readonly #lists = new Map<string, ApprovalProof>()
  readonly #facts = new Map<string, { text: string; facts: ProofFacts }>()

  /** `needs`: people who have to agree, where that is more than the approval says. */
  async judge(item: ItemRow, needs: number): Promise<ItemProof> {
    const proof = await this.#prove(item)
    return proof?.judge(item.number, await this.#readFacts(item.approval), needs) ?? CHANGED
  }

  /** True where the terms, and the list up to this item, are as they were hashed. */
  async holds(item: ItemRow): Promise<boolean> {
    return (await this.#prove(item)) !== null
  }

  /** The people whose words count and say the same. None where the list is not as it was hashed. */
  async listAgreed(item: ItemRow, word: Pick<Decision, 'hash' | 'only' | 'answer'>): Promise<string[]> {
    const proof = await this.#prove(item)
    return proof?.listAgreed(word, await this.#readFacts(item.approval)) ?? []
  }

  /** Null where the item, or the terms, are not as they were hashed. */
  async #prove(row: ItemRow): Promise<ApprovalProof | null> {
    const terms = readTerms(await this.parts.approvals.require(row.approval))
    const item = readItem(row)
    const kept = this.#lists.get(row.approval)
    if (kept?.holds(terms, item)) return kept
    const items = { approval: row.approval, after: QUESTION - 1, limit: ALL }
    const proof = new ApprovalProof(terms, await this.parts.approvalSearch.listApprovalItems(items))
    if (!proof.holds(terms, item) || !proof.find(row.hash).includes(row.hash)) return null
    keep(this.#lists, row.approval, proof)
    return proof
  }

  /** The same object while the rows are the same, so that each signature is checked once. */
  async #readFacts(approval: string): Promise<ProofFacts> {
    const { approvers, votes } = this.parts
    const facts = {
      approvers: await approvers.listApprovers(),
      votes: await votes.listVotes({ approval, limit: MAX_VOTES }),
    }
    const text = JSON.stringify(facts)
    const kept = this.#facts.get(approval)
    if (kept?.text === text) return kept.facts
    keep(this.#facts, approval, { text, facts })
    return facts
  }
}

/** Keeps the newest ones. */
function keep<Value>(kept: Map<string, Value>, approval: string, value: Value): void {
  kept.delete(approval)
  kept.set(approval, value)
  for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest)
}

const CHANGED: ItemProof = { fault: CHANGED_LIST, by: null }
