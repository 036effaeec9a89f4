import { UpshotError } from '../../../core/errors.ts'
import { type Decision, type DecisionResult, MIN_HASH_DIGITS, QUESTION } from '../../../core/safety/approval.ts'
import { CHANGED_LIST, MAX_VOTES } from '../../../core/safety/votes/approval-proof.ts'
import { checkVote, describeWord } from '../../../core/safety/votes/vote-record.ts'
import { JoinedTable } from '../../connection.ts'
import type { ApprovalProofs } from '../approvals/approval-proofs.ts'
import {
  type ApprovalRow,
  type Carrying,
  type Closing,
  type ItemRow,
  isGranted,
  MAX_CARRIED,
  readAsked,
} from '../approvals/approval-search.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { ApproverTable } from '../approvals/approver-table.ts'
import type { VoteTable } from '../approvals/vote-table.ts'
import type { WithdrawalTable } from '../approvals/withdrawal-table.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { StopTable } from '../safety/stop-table.ts'
import type { ApprovalWaits } from '../waits/approval-waits.ts'

interface DecisionTables {
  approvals: ApprovalTable
  approvers: ApproverTable
  effects: EffectTable
  proofs: ApprovalProofs
  stops: StopTable
  votes: VoteTable
  approvalWaits: ApprovalWaits
  withdrawals: WithdrawalTable
}

/** Counts the words of people, and carries out what they decide. See decision 45. */
export class ApprovalDecisions extends JoinedTable<DecisionTables> {
  /**
   * Counts a person's word. Approving covers the list up to the named hash; the rest moves to a
   * fresh approval. Throws `conflict` for a list that has no such hash, or is decided.
   */
  async decideApproval(decision: Decision, now: number): Promise<DecisionResult> {
    await this.parts.stops.lock()
    const approval = await this.#requireOpen(decision.approval, now)
    const item = await this.#requireItem(decision)
    const { approvers, effects, proofs, votes } = this.parts
    const word = { ...decision, hash: item.hash }
    const check = checkVote(word, { approvers: await approvers.listApprovers(), role: approval.role })
    if (check.fault !== null) {
      throw new UpshotError('conflict', `The decision of "${decision.actor}" does not count: ${check.fault}.`)
    }
    if (await this.#isReplaced(approval, decision)) {
      throw new UpshotError('conflict', `The decision of "${decision.actor}" was replaced by a later one.`, {
        details: { fix: 'Give another --reason, and sign that.' },
      })
    }
    if (approval.kind === 'question') requireWhole(approval, item, decision)
    if (decision.verdict === 'approved' && !(await proofs.holds(item))) {
      throw new UpshotError('conflict', `Approval ${approval.id} cannot be approved: ${CHANGED_LIST}.`, {
        details: { fix: 'Somebody changed the database. Deny it, and check with "upshot effects verify".' },
      })
    }
    const { publicKey } = check
    // A signature that nothing checks proves nothing.
    const counted = { ...word, signature: publicKey === null ? null : decision.signature }
    const { workflow, account } = approval
    const row = describeWord({ ...counted, publicKey })
    const effectSeq = await effects.note({ at: now, phase: 'decided', workflow, account, ...row })
    await votes.save({ ...counted, at: now, effectSeq })
    const { verdict, actor, reason } = decision
    if (verdict === 'denied') return await this.#close(approval, { status: 'denied', by: [actor], reason }, now)
    const by = await proofs.listAgreed(item, counted)
    const missing = approval.needs - by.length
    if (missing > 0) return { status: 'open', granted: 0, moved: 0, next: null, woken: 0, missing }
    return await this.#approve(approval, { item, decision, by, now })
  }

  /** Whether its person has said something else since. The ledger shows signed words to others. */
  async #isReplaced({ id, workflow, openedAt }: ApprovalRow, { actor, signature }: Decision): Promise<boolean> {
    if (signature === null) return false
    const { votes } = this.parts
    const last = (await votes.listVotes({ approval: id, limit: MAX_VOTES })).find((vote) => vote.actor === actor)
    const isLast = last?.signature == null || Buffer.from(signature).equals(last.signature)
    const proof = Buffer.from(signature).toString('base64')
    return !isLast && (await votes.findSaid({ workflow, openedAt, id, actor, proof })) !== null
  }

  async #approve(
    approval: ApprovalRow,
    { item, decision, by, now }: { item: ItemRow; decision: Decision; by: readonly string[]; now: number },
  ) {
    const { reason, answer, only } = decision
    const granted = (only ?? [{ from: QUESTION, to: item.number }]).map(({ from, to }) => {
      return { from, to: Math.min(to, item.number) }
    })
    const open = await this.parts.approvals.openNumbers(approval.id)
    const meant = open.filter((number) => isGranted({ granted }, number))
    if (meant.length === 0 && approval.kind === 'guard') {
      throw new UpshotError('conflict', `None of these items of approval ${approval.id} is still asked for.`, {
        details: { fix: `Look again: "upshot approvals show ${approval.id}".` },
      })
    }
    const result = await this.#close(approval, { status: 'approved', granted, by, reason, answer }, now)
    const moved = open.length - meant.length
    // Opened here, so that the answer names it.
    const next = moved === 0 ? null : (await this.#openNext(approval, now)).id
    return { ...result, granted: meant.length, moved, next }
  }

  /**
   * Takes more of a list back, wakes more runs that ask again, or tells more items of a word.
   * Returns the runs that it woke; null where nothing is left.
   */
  async carryOut(now: number): Promise<number | null> {
    const { approvals, stops, approvalWaits, withdrawals } = this.parts
    if (await withdrawals.carryOn()) return 0
    if (await approvalWaits.asking.isUnderWay()) {
      await stops.lock()
      return (await approvalWaits.asking.carryOn()) ?? 0
    }
    if ((await approvals.findCarrying()) === null) return null
    await stops.lock()
    const found = await approvals.findCarrying()
    return found === null ? null : this.#carryOn(found, JSON.parse(found.carrying ?? 'null'), now)
  }

  /** Tells the next items of a decision, wakes their runs and moves what was left out. */
  async #carryOn(approval: ApprovalRow, { granted, after }: Carrying, now: number): Promise<number> {
    const { approvals, approvalWaits } = this.parts
    const { id, status } = approval
    const items = await approvals.openItems(id, after, MAX_CARRIED)
    const isRest = ({ number }: ItemRow) => status === 'approved' && !isGranted({ granted }, number)
    const told = items.filter((item) => !isRest(item))
    await approvals.tell(id, numbersOf(told), status)
    await this.#move(approval, items.filter(isRest), now)
    // Items that moved ask again, too, so that their runs name the approval that is open now. Time
    // wakes the steps whose approval expired.
    const woken = status === 'expired' ? 0 : await approvalWaits.wakeSteps(id, stepsOf(items))
    const last = items.length < MAX_CARRIED ? undefined : items.at(-1)
    await approvals.carry(id, last ? { granted, after: last.number } : null)
    return last || status === 'expired' ? woken : woken + (await this.#endCarrying(approval, now))
  }

  /** After the last item: the waits that no item is left for, and what nobody asks for any more. */
  async #endCarrying({ id, askedBy }: ApprovalRow, now: number): Promise<number> {
    const { approvals, approvalWaits } = this.parts
    const woken = await approvalWaits.wakeAwaiting(id)
    const next = await approvals.findOpen(askedBy, now)
    if (next) await approvals.closeEmpty(next.id, now)
    return woken
  }

  /** Moves items that were left out to the open approval of the same limit. */
  async #move(from: ApprovalRow, rest: readonly ItemRow[], now: number): Promise<void> {
    if (rest.length === 0) return
    const { approvals } = this.parts
    const next = await this.#openNext(from, now)
    await approvals.tell(from.id, numbersOf(rest), 'moved')
    await approvals.join(
      next,
      rest.map(({ runId, step, target, asked, fence }) => {
        return { runId, step, target, asked: readAsked(asked), fence }
      }),
    )
  }

  /** The open approval of the same limit, for what was left out; opened where there is none. */
  async #openNext(before: ApprovalRow, now: number): Promise<ApprovalRow> {
    const { kind, askedBy, workflow, account, why, needs, role, question, expiresAt } = before
    const opening = { kind, askedBy, workflow, account, why, needs, role, question, openedAt: now, expiresAt }
    const { approvals } = this.parts
    return (await approvals.findOpen(askedBy, now)) ?? (await approvals.open(opening))
  }

  async #close(
    approval: ApprovalRow,
    ending: Closing & { status: 'approved' | 'denied' },
    now: number,
  ): Promise<DecisionResult> {
    const { approvals } = this.parts
    const { id } = approval
    // Its step may have given up since it was read, which takes no lock of decisions.
    if (!(await approvals.close(id, { ...ending, now }))) await this.#requireOpen(id, now)
    const { status } = ending
    const carrying = { granted: ending.granted ?? null, after: QUESTION - 1 }
    const woken = await this.#carryOn({ ...approval, status }, carrying, now)
    await approvals.tellEnd(id, ending)
    return { status, granted: 0, moved: 0, next: null, woken, missing: 0 }
  }

  async #requireOpen(id: string, now: number): Promise<ApprovalRow> {
    const found = await this.parts.approvals.find(id)
    if (!found) throw new UpshotError('not_found', `There is no approval ${id}.`)
    const status = found.status === 'open' && found.expiresAt <= now ? 'expired' : found.status
    if (status === 'open') return found
    throw new UpshotError('conflict', `Approval ${id} is ${status} already.`, {
      details: { fix: 'List what is open with "upshot approvals list".' },
    })
  }

  async #requireItem({ approval, hash }: Decision): Promise<ItemRow> {
    const isHash = hash.length >= MIN_HASH_DIGITS && /^[0-9a-f]+$/.test(hash)
    const [found, another] = isHash ? await this.parts.approvals.findByHash({ approval, digits: hash }) : []
    if (found && !another) return found
    if (found) {
      throw new UpshotError('conflict', `${hash} begins two hashes of the list of approval ${approval}.`, {
        details: { fix: `Name the whole hash: "upshot approvals show ${approval} --json".` },
      })
    }
    throw new UpshotError('list_changed', `The list of approval ${approval} has no hash ${hash}: it has changed.`, {
      details: { fix: `Look again: "upshot approvals show ${approval}".` },
    })
  }
}

/** A question is one thing: a part of what it shows cannot be approved. */
function requireWhole({ id, hash }: ApprovalRow, item: ItemRow, { only }: Decision): void {
  if (only === null && item.hash === hash) return
  throw new UpshotError('conflict', `Approval ${id} is a question, which is answered as a whole.`, {
    details: { fix: `Name its last hash, without numbers: "upshot approvals show ${id}".` },
  })
}

function numbersOf(items: readonly ItemRow[]): number[] {
  return items.map(({ number }) => number)
}

function stepsOf(items: readonly ItemRow[]): { runId: string; step: string }[] {
  return items.map(({ runId, step }) => ({ runId, step }))
}
