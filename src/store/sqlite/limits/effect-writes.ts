import type { Lease } from '../../../core/runs/lease.ts'
import { coversEffect, describeScope } from '../../../core/safety/stop.ts'
import type { ApprovalWrites } from '../../../core/store/safety/approvals.ts'
import type { EffectWrites } from '../../../core/store/safety/effects.ts'
import { describeStale } from '../../rows/runs/describe-stale.ts'
import { describeByHand } from '../../rows/safety/describe-by-hand.ts'
import type { ApproverTable } from '../../tables/safety/approver-table.ts'
import { addApprover, removeApprover } from '../../tables/safety/register-approvers.ts'
import type { GroupCommit } from '../database/group-commit.ts'
import type { RunOperations } from '../runs/run-operations.ts'
import type { ApprovalTable } from '../safety/approval-table.ts'
import type { EffectTable } from '../safety/effect-table.ts'
import type { StopTable } from '../safety/stop-table.ts'
import type { ApprovalWaits } from '../waits/approval-waits.ts'
import type { ApprovalDecisions } from './approval-decisions.ts'
import type { Permits } from './permits.ts'
import { startPlanned } from './start-planned.ts'

interface EffectTables {
  approvals: ApprovalTable
  approvers: ApproverTable
  decisions: ApprovalDecisions
  effects: EffectTable
  operations: RunOperations
  permits: Permits
  stops: StopTable
  approvalWaits: ApprovalWaits
}

type Commit = Pick<GroupCommit, 'write'>

/** Permits, and the switches that hold effects. */
export function effectWrites({ permits, stops, approvalWaits, effects }: EffectTables, commit: Commit): EffectWrites {
  const underLease = <T>(lease: Lease, decide: () => Promise<T | null>): Promise<T> =>
    commit.write(decide, (answer) => {
      if (answer === null) throw describeStale(lease)
      return answer
    })
  return {
    beginEffects: (lease, asks, options) => underLease(lease, () => permits.begin(lease, asks, options)),
    reserveEffects: (lease, list, shares, { now }) =>
      underLease(lease, () => permits.reserve(lease, list, shares, now)),
    beginPart: (lease, asks, part, options) => underLease(lease, () => permits.beginPart(lease, asks, part, options)),
    beginByHand: (effect) =>
      commit.write(async () => {
        const { account, storage } = effect
        const source = { workflow: '', account, storage }
        const stop = (await stops.list()).find((each) => coversEffect(each, source))
        return stop ? { stop } : { seq: await effects.note(describeByHand(effect, 'begun')) }
      }),
    endByHand: ({ seq, outcome, error, before, ...effect }) =>
      commit.write(async () => {
        await effects.note({
          ...describeByHand(effect, 'ended'),
          ofSeq: seq,
          outcome,
          error,
          before: before && JSON.stringify(before),
        })
      }),
    noteOutside: (act) => commit.write(() => effects.noteOutside(act)),
    askAgain: () => commit.write(() => approvalWaits.asking.begin('guard')),
    stopEffects: (stop) =>
      commit.write(async () => {
        const { kind, name, since: at, actor, reason } = stop
        const target = describeScope({ kind, name })
        const isNew = await stops.add(stop)
        if (isNew) await effects.note({ at, phase: 'switched', operation: 'stop', target, actor, error: reason })
        return isNew
      }),
    resumeEffects: (scope, { actor, reason, now: at }) =>
      commit.write(async () => {
        if (!(await stops.remove(scope))) return null
        const target = describeScope(scope)
        await effects.note({ at, phase: 'switched', operation: 'resume', target, actor, error: reason })
        return approvalWaits.asking.begin('stop')
      }),
  }
}

/** The words of people, and who may speak. */
export function approvalWrites(tables: EffectTables, commit: Commit): ApprovalWrites {
  const { decisions } = tables
  return {
    decideApproval: (decision, now) => commit.write(() => decisions.decide(decision, now)),
    carryOutDecision: (now) => commit.write(() => decisions.carryOut(now)),
    startPlanned: (planned, word, now) => commit.write(() => startPlanned(tables, planned, word, now)),
    addApprover: (approver) => commit.write(() => addApprover(tables, approver)),
    removeApprover: (name, now) => commit.write(() => removeApprover(tables, name, now)),
  }
}
