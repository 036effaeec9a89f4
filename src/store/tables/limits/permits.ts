import type { Lease } from '../../../core/runs/lease.ts'
import { describeStale } from '../../../core/runs/lease.ts'
import {
  type ClosedApproval,
  completeState,
  type EffectAsk,
  type EffectPermit,
  GRANTED,
} from '../../../core/safety/effect.ts'
import {
  type EffectList,
  type EffectShare,
  findFullIn,
  findFullOf,
  type ListRoom,
  sharesOf,
} from '../../../core/safety/effect-group.ts'
import { folderOf } from '../../../core/safety/folders.ts'
import { describeLimit, type Limit, ruleOf } from '../../../core/safety/guard.ts'
import { describeScope } from '../../../core/safety/stop.ts'
import type { AskOptions } from '../../../core/store/effects.ts'
import { JoinedTable } from '../../connection.ts'
import type { RunTable } from '../../tables/runs/run-table.ts'
import type { StepTable } from '../../tables/runs/step-table.ts'
import type { GuardTable } from '../../tables/safety/guard-table.ts'
import type { ReservedTable } from '../../tables/safety/reserved-table.ts'
import type { WaitTable } from '../../tables/waits/wait-table.ts'
import type { ApprovalProofs } from '../approvals/approval-proofs.ts'
import { type FoundItem, isAskedAgain, type NewItem, readAsked } from '../approvals/approval-search.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { StopTable } from '../safety/stop-table.ts'
import type { ApprovalWaits } from '../waits/approval-waits.ts'
import {
  answerFull,
  findStop,
  findWord,
  holdFor,
  type JudgedAsk,
  type JudgeParts,
  listGranted,
  listRows,
  permitAgain,
  readKnown,
} from './judged-ask.ts'

interface PermitTables {
  approvals: ApprovalTable
  approvalWaits: ApprovalWaits
  effects: EffectTable
  guard: GuardTable
  proofs: ApprovalProofs
  reserved: ReservedTable
  stops: StopTable
  /** False when the lease is stale; else its run is locked to the end of the transaction. */
  runs: Pick<RunTable, 'lock'>
  steps: Pick<StepTable, 'saveOpen'>
  waits: Pick<WaitTable, 'saveCodeHash'>
}

/** Decides whether effects may begin, and counts and records those that may. See decision 44. */
export class Permits extends JoinedTable<PermitTables> {
  /**
   * Saves the rows of steps whose effects are about to begin and decides whether they may, in one
   * commit. A granted effect is counted and in the ledger; asked again, it is granted and counted
   * no second time.
   */
  async beginEffects(lease: Lease, asks: readonly EffectAsk[], options: AskOptions): Promise<EffectPermit[]> {
    await this.#lock(lease)
    await this.parts.reserved.release(lease, null)
    const judged = await this.#judgeAll(lease, asks, options)
    const stopped = judged.find(({ permit }) => permit?.kind === 'stopped')
    if (options.together === true && stopped) for (const each of judged) each.permit = stopped.permit
    const open = judged.filter(({ permit }) => permit === null)
    if (options.together === true) await this.#decideRoom(open, options)
    else for (const each of open) await this.#decideRoom([each], options)
    await this.parts.steps.saveOpen(lease.runId, listRows(judged))
    const permits: EffectPermit[] = []
    for (const each of judged) permits.push(await this.#carryOut(lease, each, options.now))
    await this.#noteGranted(lease, judged, options.now)
    return permits
  }

  /**
   * Decides about the effects of a long list that are not decided yet: counts all of them, or none.
   * Effects that an earlier pass counted and did not begin are taken back first.
   */
  async reserveEffects(
    lease: Lease,
    list: EffectList,
    shares: readonly EffectShare[],
    { now }: Pick<AskOptions, 'now'>,
  ): Promise<ListRoom> {
    const { guard, reserved, stops } = this.parts
    await this.#lock(lease)
    await reserved.release(lease, list.number)
    if (findStop(await stops.listStops(), list.sources)) return { kind: 'stopped' }
    const used = await guard.listUsed(
      shares.flatMap(({ limits }) => limits),
      now,
    )
    const limit = findFullIn(shares, (each) => used.get(each) ?? 0)
    if (limit) return { kind: 'full', limit }
    for (const share of shares) await reserved.add(lease, list.number, share, now)
    return { kind: 'reserved' }
  }

  /**
   * As {@link beginEffects} for a part of a long list; `room` is what was decided about the list.
   * Without it, asks that only limits decide are answered null, and not saved.
   */
  async beginPart(
    lease: Lease,
    asks: readonly EffectAsk[],
    { list, room }: { list: EffectList; room: ListRoom | null },
    options: Omit<AskOptions, 'together'>,
  ): Promise<(EffectPermit | null)[]> {
    await this.#lock(lease)
    const { now } = options
    const judged = await this.#judgeAll(lease, asks, { ...options, beside: list.sources })
    const open = judged.filter(({ permit }) => permit === null)
    if (room?.kind === 'full' && open.length > 0) await this.#refuse(open, room.limit, options)
    const moments = new Map<JudgedAsk, number>()
    for (const each of room?.kind === 'reserved' ? open : []) {
      const at = await this.parts.reserved.take(lease, list.number, each.ask, each.source)
      if (at !== null) moments.set(each, at)
    }
    for (const each of moments.keys()) each.permit = GRANTED
    await this.parts.steps.saveOpen(lease.runId, listRows(judged))
    const permits: (EffectPermit | null)[] = []
    for (const each of judged) {
      permits.push(each.permit && (await this.#carryOut(lease, each, moments.get(each) ?? now)))
    }
    await this.#noteGranted(lease, judged, now)
    return permits
  }

  /** Locks decisions about effects before the run's row, as every other one does. */
  async #lock(lease: Lease): Promise<void> {
    await this.parts.stops.lock()
    if (!(await this.parts.runs.lock(lease))) throw describeStale(lease)
  }

  async #judgeAll(
    { runId }: Lease,
    asks: readonly EffectAsk[],
    { codeHash, ...given }: Omit<AskOptions, 'together'> & Pick<JudgeParts, 'beside'>,
  ): Promise<JudgedAsk[]> {
    if (codeHash !== undefined) await this.parts.waits.saveCodeHash(runId, codeHash)
    const inForce = await this.parts.stops.listStops()
    const known = await readKnown(this.parts, runId, asks)
    return Array.fromAsync(asks, (ask) => this.#judge(runId, ask, { ...given, inForce, known }))
  }

  /** The answers that come before the limits: a stop, an earlier permit, a person's word. */
  async #judge(
    runId: string,
    ask: EffectAsk,
    { inForce, known, now, needs, beside = [] }: JudgeParts,
  ): Promise<JudgedAsk> {
    const { workflow, account, storage, step, asked } = ask
    const source = { runId, workflow, account, storage, folder: folderOf(asked?.path ?? null) }
    const wasAsked = known.items.has(step.key)
    const judge = (permit: EffectPermit | null): JudgedAsk => ({ ask, source, permit, wasAsked })
    const stop = findStop(inForce, [source, ...beside])
    if (stop) return judge({ kind: 'stopped', reason: `${describeScope(stop)} are stopped: ${stop.reason}` })
    const item = findWord(known, ask)
    const bonds = known.begun.get(step.key)
    if (bonds) return judge(permitAgain(item, bonds))
    return judge(item && (await this.#judgeWord(runId, ask, { item, now, needs })))
  }

  /** The permit that follows from what people said; null where the limits decide. */
  async #judgeWord(
    runId: string,
    { step, asked }: EffectAsk,
    { item, now, needs }: { item: FoundItem } & Pick<JudgeParts, 'now' | 'needs'>,
  ): Promise<EffectPermit | null> {
    const { approvals } = this.parts
    const { approval, state, kind } = item
    const isOpen = state === 'open'
    const isOver = isOpen && item.status === 'open' && item.expiresAt <= now
    if (isOver) await approvals.expire(approval, now)
    if (isOver || state === 'expired') return this.#refuseByWord(item, 'expired')
    if (state === 'denied') return this.#refuseByWord(item, 'denied')
    const isQuestion = kind === 'question'
    // A question's answer is for the file as people saw it, whatever the run has read since.
    if (!isQuestion && !isAskedAgain(item.asked, asked)) {
      await approvals.withdrawStep(runId, step.key, now)
      return null
    }
    if (isOpen) {
      // Nobody has answered, or the decision about a long list is not carried out that far.
      const isMoving = isQuestion || item.status !== 'open' || (await approvals.wasLeftOut(runId, step.key))
      return isMoving ? holdFor(item) : null
    }
    if (state !== 'approved') return null
    // A question says itself how many people it needs.
    const proof = await this.parts.proofs.judge(item, isQuestion ? 0 : needs)
    if (proof.fault !== null) {
      return { kind: 'denied', approval, reason: `approval ${approval} is not valid: ${proof.fault}` }
    }
    if (item.target !== step.target) return null
    const expect = completeState(readAsked(item.asked), asked)
    const granted = { kind: 'granted', approval, by: proof.by, expect, isRepeated: false } as const
    return { ...granted, ...(await this.#tellEnd(item, 'approved')) }
  }

  async #refuseByWord(item: FoundItem, state: 'denied' | 'expired'): Promise<EffectPermit> {
    const { approval, why } = item
    const reason = `approval ${approval} ${state === 'denied' ? 'was denied' : 'has expired'}: ${why}`
    return { kind: 'denied', approval, reason, ...(await this.#tellEnd(item, state)) }
  }

  /** The first item of a list tells of its end; the step of a question tells of that itself. */
  async #tellEnd(item: FoundItem, status: ClosedApproval['status']): Promise<{ closed?: ClosedApproval }> {
    if (item.kind !== 'guard' || (await this.parts.approvals.hasEarlier(item.approval, item.number, status))) return {}
    return { closed: { id: item.approval, status } }
  }

  async #decideRoom(group: JudgedAsk[], options: AskOptions): Promise<void> {
    const { guard } = this.parts
    const used = await guard.listUsed(
      group.flatMap(({ ask }) => ask.limits),
      options.now,
    )
    const full = findFullOf(group, (limit) => used.get(limit) ?? 0)
    if (full === null) {
      for (const each of group) each.permit = GRANTED
      // Counted here, so that the next ask of this commit sees it.
      for (const share of sharesOf(group)) await guard.reserve(share.source, share.class, share, options.now)
    } else await this.#refuse(group, full, options)
  }

  /** Answers a group that has no room in a limit. */
  async #refuse(group: JudgedAsk[], full: Limit, options: AskOptions): Promise<void> {
    const answer = answerFull(full, options.now)
    if (answer === null) await this.#hold(group, full, options)
    else for (const each of group) each.permit = answer
  }

  /** Adds the effects to the open approval of a limit, and opens one where there is none. */
  async #hold(group: JudgedAsk[], full: Limit, options: AskOptions): Promise<void> {
    const { approvals } = this.parts
    if (group.some(({ ask }) => ask.isUnseen)) {
      const unseen = { kind: 'held', approval: null, until: null, opened: false, isUnseen: true } as const
      for (const each of group) each.permit = { ...unseen, reason: `it would be ${describeLimit(full)}` }
      return
    }
    const [{ source }] = group as [JudgedAsk]
    const askedBy = `${full.scope}/${source.account}/${full.setting}`
    const { needs, expiresAt, now } = options
    const known = await approvals.findOpen(askedBy, now)
    const { workflow, account } = source
    const about = { kind: 'guard', askedBy, workflow, account, why: describeLimit(full) } as const
    const opening = { ...about, role: null, question: null, needs, openedAt: now, expiresAt }
    const approval = known ?? (await approvals.open(opening))
    const joined: NewItem[] = []
    for (const { ask, source: asking } of group) {
      const { step, asked } = ask
      const before = (await approvals.listItems(asking.runId, [step.key])).at(-1)
      if (before?.approval === approval.id) continue
      if (before) await approvals.withdrawStep(asking.runId, step.key, options.now)
      joined.push({ runId: asking.runId, step: step.key, target: step.target, asked })
    }
    await approvals.join(approval, joined)
    const reason = `waits for approval ${approval.id}: it would be ${approval.why}`
    const opened = known === null
    const rule = ruleOf(full)
    for (const each of group) {
      each.permit = { kind: 'held', reason, approval: approval.id, until: approval.expiresAt, opened, rule }
    }
  }

  async #carryOut({ runId }: Lease, { ask, permit, wasAsked }: JudgedAsk, now: number): Promise<EffectPermit> {
    const { approvals, approvalWaits, effects } = this.parts
    const { key } = ask.step
    if (permit === null) throw new Error(`step ${key} was judged`)
    if (permit.kind === 'granted') {
      if (permit.isRepeated) return permit
      if (permit.approval === null && wasAsked) await approvals.withdrawStep(runId, key, now)
      await effects.begin(runId, ask, { ...permit, now })
      return permit
    }
    if (permit.kind === 'stopped') await approvalWaits.awaitPermit(runId, key, 'stop')
    else if (permit.kind === 'held' && permit.approval !== null)
      await approvalWaits.awaitPermit(runId, key, permit.approval)
    return permit
  }

  /** Ends the waits of effects that begin, and counts those that begin again or were approved. */
  async #noteGranted({ runId }: Lease, judged: readonly JudgedAsk[], now: number): Promise<void> {
    const { approvalWaits, effects, guard } = this.parts
    const { keys, repeated, approved } = listGranted(judged)
    await approvalWaits.settle(runId, keys)
    if (repeated.length > 0) await effects.repeat(runId, repeated)
    for (const share of sharesOf(approved)) await guard.reserve(share.source, 'approved', share, now)
  }
}
