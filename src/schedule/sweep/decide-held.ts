import type { Approval, ApprovalItem, ItemState } from '../../core/safety/approval.ts'
import { loadProof, MAX_VOTES, type ProofReads } from '../../core/safety/votes/approval-proof.ts'
import type { FindingKey, FindingState } from '../../core/service/sweep/judge-file.ts'
import type { SweepParts } from './sweep-parts.ts'

/** Findings, approvals and items that one look reads. */
const FINDINGS = 1_000
const APPROVALS = 100

const NEXT: Partial<Record<ItemState, FindingState>> = { approved: 'due', denied: 'denied', expired: 'denied' }

/** Carries out what people decided about events to be made up. */
export async function decideHeld({ store, clock }: Pick<SweepParts, 'store' | 'clock'>): Promise<void> {
  const held = await store.listFindings({ states: ['held'], limit: FINDINGS })
  if (held.length === 0) return
  const states = await readItems({ store, clock })
  for (const finding of held) {
    const decided = states.get(nameOf(finding)) ?? 'open'
    const to = NEXT[decided]
    if (to !== undefined)
      await store.moveFinding(finding, 'held', to, to === 'denied' ? `the approval is ${decided}` : null)
  }
}

/** The newest state of each item: one that has moved is in a later approval, too. */
async function readItems({ store, clock }: Pick<SweepParts, 'store' | 'clock'>): Promise<Map<string, ItemState>> {
  const states = new Map<string, ItemState>()
  const approvals = await store.listApprovals({ workflow: '', limit: APPROVALS, now: clock.now() })
  for (const terms of approvals.toReversed()) {
    const { id: approval, kind, account, status } = terms
    if (kind !== 'repair') continue
    const isProven = status === 'approved' ? await openProof(store, terms) : () => true
    for (let after = 0; ; ) {
      const items = await store.listApprovalItems({ approval, after, limit: FINDINGS })
      for (const item of items) {
        const { step, target, state } = item
        // An item that no words cover stays lost, whatever its row says.
        if (state === 'moved' || (state === 'approved' && !isProven(item))) continue
        states.set(`${account} ${step} ${target}`, status === 'expired' ? 'expired' : state)
      }
      const last = items.at(-1)
      if (last === undefined || items.length < FINDINGS) break
      after = last.number
    }
  }
  return states
}

/** Whether people's words let an item of this list happen. */
async function openProof(store: ProofReads, terms: Approval): Promise<(item: ApprovalItem) => boolean> {
  const { proof } = await loadProof(store, terms)
  const votes = await store.listVotes({ approval: terms.id, limit: MAX_VOTES })
  const facts = { votes, approvers: await store.listApprovers() }
  return (item) => proof.holds(terms, item) && proof.judge(item.number, facts).fault === null
}

function nameOf({ account, storage, file, type }: FindingKey): string {
  return `${account} ${type} ${storage}:${file}`
}
