import { UpshotError } from '../../../core/errors.ts'
import { type Decision, type DecisionResult, MIN_HASH_DIGITS } from '../../../core/safety/approval.ts'
import { checkVote } from '../../../core/safety/votes/check-vote.ts'
import { describeWord } from '../../../core/safety/votes/vote-record.ts'
import type { ApprovalRow, Closing, ItemRow } from '../../rows/approval-rows.ts'
import { type ApprovalTable, readAsked } from '../safety/approval-table.ts'
import type { ApproverTable } from '../safety/approver-table.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { StopTable } from '../safety/stop-table.ts'
import type { VoteTable } from '../safety/vote-table.ts'
import type { WaitTable } from '../waits/wait-table.ts'

interface DecisionTables {
  approvals: ApprovalTable
  approvers: ApproverTable
  effects: EffectTable
  stops: StopTable
  votes: VoteTable
  waits: WaitTable
}

/** Most items of an approval that one decision reads. */
const EVERY_ITEM = Number.MAX_SAFE_INTEGER

/** Counts the words of people, and carries out what they decide. See decision 45. */
export class ApprovalDecisions {
  readonly #tables: DecisionTables

  constructor(tables: DecisionTables) {
    this.#tables = tables
  }

  async decide(decision: Decision, now: number): Promise<DecisionResult> {
    await this.#tables.stops.lock()
    const approval = await this.#requireOpen(decision.approval, now)
    const item = await this.#requireItem(decision)
    const { approvers, effects, votes } = this.#tables
    const word = { ...decision, hash: item.hash }
    const check = checkVote(word, { approvers: await approvers.list(), role: approval.role })
    if (check.fault !== null) {
      throw new UpshotError('conflict', `The word of "${decision.actor}" does not count: ${check.fault}.`)
    }
    if (approval.kind === 'question') requireWhole(approval, item, decision)
    const { publicKey } = check
    // A signature that nothing checks proves nothing.
    const counted = { ...word, signature: publicKey === null ? null : decision.signature }
    const { workflow, account } = approval
    const row = describeWord({ ...counted, publicKey })
    const effectSeq = await effects.note({ at: now, phase: 'decided', workflow, account, ...row })
    await votes.save({ ...counted, at: now, effectSeq })
    const { verdict, actor, reason } = decision
    if (verdict === 'denied')
      return await this.#close(approval, { status: 'denied', granted: 0, by: [actor], reason, now })
    const by = await votes.listAgreed(counted)
    const missing = approval.needs - by.length
    if (missing > 0) return { status: 'open', granted: 0, moved: 0, next: null, woken: 0, missing }
    return await this.#approve(approval, { item, decision, by, now })
  }

  async #approve(
    approval: ApprovalRow,
    { item, decision, by, now }: { item: ItemRow; decision: Decision; by: readonly string[]; now: number },
  ) {
    const { reason, answer } = decision
    const { approvals } = this.#tables
    const open = (await approvals.items(approval.id, 0, EVERY_ITEM)).filter(({ state }) => state === 'open')
    const isMeant = ({ number }: ItemRow) =>
      number <= item.number && (decision.only?.some(({ from, to }) => number >= from && number <= to) ?? true)
    const granted = open.filter(isMeant)
    const rest = open.filter((each) => !isMeant(each))
    if (granted.length === 0 && approval.kind === 'guard') {
      throw new UpshotError('conflict', `None of these items of approval ${approval.id} is still asked for.`, {
        details: { fix: `Look again: "upshot approvals show ${approval.id}".` },
      })
    }
    await approvals.moveItems(
      approval.id,
      rest.map(({ number }) => number),
    )
    const result = await this.#close(approval, { status: 'approved', granted: granted.length, by, reason, answer, now })
    return rest.length === 0 ? result : { ...result, moved: rest.length, next: await this.#reopen(approval, rest, now) }
  }

  /** Opens a fresh approval of the same limit for what was left out. */
  async #reopen(before: ApprovalRow, rest: readonly ItemRow[], now: number): Promise<string> {
    const { approvals, waits } = this.#tables
    const { kind, hold, workflow, account, why, needs, role, question, expires_at: expiresAt } = before
    const opening = { kind, hold, workflow, account, why, needs, role, question, openedAt: now, expiresAt }
    const next = await approvals.open(opening)
    const items = rest.map(({ run_id: runId, step, target, asked }) => ({
      ...{ runId, step, target },
      asked: readAsked(asked),
    }))
    await approvals.join(next, items)
    await waits.moveWaits(before.id, next.id)
    return next.id
  }

  async #close(
    { id }: ApprovalRow,
    { status, granted, ...rest }: Closing & { status: 'approved' | 'denied'; granted: number; now: number },
  ): Promise<DecisionResult> {
    const { approvals, waits } = this.#tables
    await approvals.close(id, { status, ...rest })
    return { status, granted, moved: 0, next: null, woken: await waits.wakeAwaiting(id), missing: 0 }
  }

  async #requireOpen(id: string, now: number): Promise<ApprovalRow> {
    const found = await this.#tables.approvals.find(id)
    if (!found) throw new UpshotError('not_found', `There is no approval ${id}.`)
    const status = found.status === 'open' && found.expires_at <= now ? 'expired' : found.status
    if (status === 'open') return found
    throw new UpshotError('conflict', `Approval ${id} is ${status} already.`, {
      details: { fix: 'List what is open with "upshot approvals list".' },
    })
  }

  async #requireItem({ approval, hash }: Decision): Promise<ItemRow> {
    const isHash = hash.length >= MIN_HASH_DIGITS && /^[0-9a-f]+$/.test(hash)
    const [found, another] = isHash ? await this.#tables.approvals.findByHash(approval, hash) : []
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
