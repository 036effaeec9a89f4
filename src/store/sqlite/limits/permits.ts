import type { Lease } from '../../../core/runs/lease.ts'
import { firstKeyOf } from '../../../core/runs/step.ts'
import {
  type ClosedApproval,
  completeState,
  type EffectAsk,
  type EffectPermit,
  GRANTED,
  heldStep,
} from '../../../core/safety/effect.ts'
import {
  type CountedAsk,
  type EffectList,
  type EffectShare,
  findFullIn,
  findFullOf,
  type ListRoom,
  sharesOf,
  sizeOf,
} from '../../../core/safety/effect-group.ts'
import { describeLimit, type EffectSource, type Limit, nextRoomAt, ruleOf } from '../../../core/safety/guard.ts'
import { coversEffect, describeScope, type EffectStop } from '../../../core/safety/stop.ts'
import type { AskOptions } from '../../../core/store/safety/effects.ts'
import { type ApprovalRow, type FoundItem, type NewItem, stateOf } from '../../rows/approvals/approval-rows.ts'
import { isAskedAgain, readAsked } from '../../rows/approvals/read-item.ts'
import type { RunTable } from '../runs/run-table.ts'
import type { StepTable } from '../runs/step-table.ts'
import type { ApprovalTable } from '../safety/approval-table.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { GuardTable } from '../safety/guard-table.ts'
import type { ReservedTable } from '../safety/reserved-table.ts'
import type { StopTable } from '../safety/stop-table.ts'
import type { ApprovalWaits } from '../waits/approval-waits.ts'
import type { WaitTable } from '../waits/wait-table.ts'

interface PermitTables {
  approvals: ApprovalTable
  approvalWaits: ApprovalWaits
  effects: EffectTable
  guard: GuardTable
  reserved: ReservedTable
  runs: RunTable
  steps: StepTable
  stops: StopTable
  waits: WaitTable
}

/** An ask with the answer that needs no limit; null where the limits decide. */
interface Judged extends CountedAsk {
  permit: EffectPermit | null
}

/** Decides whether effects may begin, and counts and records those that may. See decision 44. */
export class Permits {
  readonly #tables: PermitTables

  constructor(tables: PermitTables) {
    this.#tables = tables
  }

  /** Null when the lease is stale. */
  begin(lease: Lease, asks: readonly EffectAsk[], options: AskOptions): EffectPermit[] | null {
    const { reserved, runs, stops, waits } = this.#tables
    if (!runs.isLeased(lease)) return null
    reserved.release(lease, null)
    if (options.codeHash !== undefined) waits.saveCodeHash(lease.runId, options.codeHash)
    const inForce = stops.list()
    const judged = asks.map((ask) => this.#judge(lease.runId, ask, { inForce, now: options.now }))
    const stopped = judged.find(({ permit }) => permit?.kind === 'stopped')
    if (options.together === true && stopped) for (const each of judged) each.permit = stopped.permit
    const open = judged.filter(({ permit }) => permit === null)
    if (options.together === true) this.#decideRoom(open, options)
    else for (const each of open) this.#decideRoom([each], options)
    return judged.map((each) => this.#carryOut(lease, each, options.now))
  }

  /** Counts places for all of a list, or for none; null when the lease is stale. */
  reserve(lease: Lease, list: EffectList, shares: readonly EffectShare[], now: number): ListRoom | null {
    const { guard, reserved, runs, stops } = this.#tables
    if (!runs.isLeased(lease)) return null
    reserved.release(lease, list.number)
    if (findStop(stops.list(), list.sources)) return { kind: 'stopped' }
    const limit = findFullIn(shares, (each) => guard.used(each, now))
    if (limit) return { kind: 'full', limit }
    for (const share of shares) reserved.add(lease, list.number, share, now)
    return { kind: 'reserved' }
  }

  /** Begins a part of a list. Null when the lease is stale. */
  beginPart(
    lease: Lease,
    asks: readonly EffectAsk[],
    { list, room }: { list: EffectList; room: ListRoom | null },
    options: AskOptions,
  ): (EffectPermit | null)[] | null {
    const { reserved, runs, stops, waits } = this.#tables
    if (!runs.isLeased(lease)) return null
    if (options.codeHash !== undefined) waits.saveCodeHash(lease.runId, options.codeHash)
    const { now } = options
    const inForce = stops.list()
    const judged = asks.map((ask) => this.#judge(lease.runId, ask, { inForce, now, beside: list.sources }))
    const open = judged.filter(({ permit }) => permit === null)
    if (room?.kind === 'full' && open.length > 0) this.#refuse(open, room.limit, options)
    return judged.map((each) => {
      if (each.permit !== null) return this.#carryOut(lease, each, now)
      const at = room?.kind === 'reserved' ? reserved.take(lease, list.number, each.ask, each.source) : null
      return at === null ? null : this.#carryOut(lease, { ...each, permit: GRANTED }, at)
    })
  }

  /** The answers that come before the limits: a stop, an earlier permit, a person's word. */
  #judge(
    runId: string,
    ask: EffectAsk,
    { inForce, now, beside = [] }: { inForce: readonly EffectStop[]; now: number; beside?: readonly EffectSource[] },
  ): Judged {
    const { workflow, account, storage, step, asked } = ask
    const source = { runId, workflow, account, storage }
    const judge = (permit: EffectPermit | null): Judged => ({ ask, source, permit })
    const stop = findStop(inForce, [source, ...beside])
    if (stop) return judge({ kind: 'stopped', reason: `${describeScope(stop)} are stopped: ${stop.reason}` })
    const { approvals, effects } = this.#tables
    const item = this.#findItem(runId, ask)
    if (effects.findBegun(runId, step.key) !== null) {
      const isApproved = item?.state === 'approved'
      return judge({
        kind: 'granted',
        approval: isApproved ? item.approval : null,
        expect: isApproved ? readAsked(item.asked) : null,
        isRepeated: true,
      })
    }
    if (item === null) return judge(null)
    const isOver = item.status === 'open' && item.state === 'open' && item.expires_at <= now
    if (isOver) approvals.expire(item.approval, now)
    if (isOver || item.state === 'denied' || item.state === 'expired') {
      const state = isOver || item.state === 'expired' ? 'expired' : 'denied'
      const reason = `approval ${item.approval} was ${state}: ${item.why}`
      return judge({ kind: 'denied', approval: item.approval, reason, ...this.#tellEnd(item, state) })
    }
    const isQuestion = item.kind === 'question'
    // A question's answer is for the file as people saw it, whatever the run has read since.
    if (!isQuestion && !isAskedAgain(item.asked, asked)) {
      approvals.withdrawStep(runId, step.key, now)
      return judge(null)
    }
    // Nobody has answered, or the decision about a long list is not carried out that far.
    const isMoving = item.state === 'open' && (isQuestion || item.status !== 'open')
    if (isMoving || (item.state === 'open' && approvals.wasLeftOut(runId, step.key))) {
      const { approval, expires_at: until, why } = item
      const reason = `waits for approval ${approval}: it would be ${why}`
      return judge({ kind: 'held', reason, approval, until, opened: false })
    }
    if (item.state !== 'approved') return judge(null)
    const expect = completeState(readAsked(item.asked), asked)
    const granted = { kind: 'granted', approval: item.approval, expect, isRepeated: false } as const
    return judge({ ...granted, ...this.#tellEnd(item, 'approved') })
  }

  /** The word about a step's effect. A no to a file is also for its later deletes in the run. */
  #findItem(runId: string, { class: kind, step }: EffectAsk): FoundItem | null {
    const find = (key: string) => {
      const found = this.#tables.approvals.findItem(runId, key)
      return found && { ...found, state: stateOf(found) }
    }
    const first = firstKeyOf(step.key)
    const refused = kind === 'delete' && first !== step.key ? find(first) : null
    return refused?.state === 'denied' || refused?.state === 'expired' ? refused : find(step.key)
  }

  /** The first item of a list tells of its end; the step of a question tells of that itself. */
  #tellEnd(item: FoundItem, status: ClosedApproval['status']): { closed?: ClosedApproval } {
    const isTold = item.kind === 'guard' && this.#tables.approvals.isFirst({ ...item, state: status })
    return isTold ? { closed: { id: item.approval, status } } : {}
  }

  /** Grants all where every limit has room for all of them, and holds all otherwise. */
  #decideRoom(group: Judged[], options: AskOptions): void {
    const { guard } = this.#tables
    const full = findFullOf(group, (limit) => guard.used(limit, options.now))
    if (full === null) {
      for (const each of group) each.permit = GRANTED
      // Counted here, so that the next ask of this commit sees it.
      for (const share of sharesOf(group)) guard.reserve(share.source, share.class, share, options.now)
    } else this.#refuse(group, full, options)
  }

  /** Answers a group that has no room in a limit. */
  #refuse(group: Judged[], full: Limit, options: AskOptions): void {
    if (full.over === 'fail') {
      const reason = `it would be ${describeLimit(full)}`
      for (const each of group) each.permit = { kind: 'denied', approval: null, reason }
    } else if (full.over === 'wait') {
      const reason = `waits for room: it would be ${describeLimit(full)}`
      const until = nextRoomAt(full.window, options.now)
      for (const each of group) each.permit = { kind: 'held', reason, approval: null, until, opened: false }
    } else this.#hold(group, full, options)
  }

  /** Adds the effects to the open approval of a limit, and opens one where there is none. */
  #hold(group: Judged[], full: Limit, options: AskOptions): void {
    const { approvals } = this.#tables
    const [{ source }] = group as [Judged]
    const hold = `${full.scope}/${source.account}/${full.setting}`
    const known = approvals.findOpen(hold, options.now)
    const approval = known ?? this.#open(hold, full, { source, options })
    const joined: NewItem[] = []
    for (const {
      ask,
      source: { runId },
    } of group) {
      const { step, asked } = ask
      const before = approvals.findItem(runId, step.key)
      if (before?.approval === approval.id) continue
      if (before) approvals.withdrawStep(runId, step.key, options.now)
      joined.push({ runId, step: step.key, target: step.target, asked })
    }
    approvals.join(approval, joined)
    const reason = `waits for approval ${approval.id}: it would be ${approval.why}`
    const opened = known === null
    const rule = ruleOf(full)
    for (const each of group) {
      each.permit = { kind: 'held', reason, approval: approval.id, until: approval.expires_at, opened, rule }
    }
  }

  #open(hold: string, full: Limit, { source, options }: { source: EffectSource; options: AskOptions }): ApprovalRow {
    const { workflow, account } = source
    const { needs, expiresAt, now } = options
    const why = describeLimit(full)
    const about = { kind: 'guard', hold, workflow, account, why, needs, role: null, question: null } as const
    return this.#tables.approvals.open({ ...about, openedAt: now, expiresAt })
  }

  #carryOut(lease: Lease, { ask, source, permit }: Judged, now: number): EffectPermit {
    const { approvals, approvalWaits, effects, guard, steps } = this.#tables
    const { runId } = lease
    const { key } = ask.step
    if (permit === null) throw new Error(`step ${key} was judged`)
    steps.save(lease, permit.kind === 'granted' ? ask.step : heldStep(ask.step))
    if (permit.kind === 'granted') {
      if (effects.findBegun(runId, key) === null) {
        if (permit.approval !== null) guard.reserve(source, 'approved', sizeOf(ask), now)
        else approvals.withdrawStep(runId, key, now)
        effects.begin(runId, ask, { approval: permit.approval, expect: permit.expect, now })
      } else effects.repeat(runId, key)
      approvalWaits.settle(runId, key)
      return permit
    }
    if (permit.kind === 'stopped') approvalWaits.awaitPermit(runId, key, 'stop')
    else if (permit.kind === 'held' && permit.approval !== null) approvalWaits.awaitPermit(runId, key, permit.approval)
    return permit
  }
}

function findStop(inForce: readonly EffectStop[], sources: readonly EffectSource[]): EffectStop | undefined {
  return inForce.find((stop) => sources.some((source) => coversEffect(stop, source)))
}
