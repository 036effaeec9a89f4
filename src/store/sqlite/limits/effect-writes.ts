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
  const underLease = async <T>(lease: Lease, decide: () => Promise<T | null>): Promise<T> =>
    commit.write(decide, (answer) => {
      if (answer === null) throw describeStale(lease)
      return answer
    })
  return {
    beginEffects: async (lease, asks, options) => underLease(lease, async () => permits.begin(lease, asks, options)),
    reserveEffects: async (lease, list, shares, { now }) =>
      underLease(lease, async () => permits.reserve(lease, list, shares, now)),
    beginPart: async (lease, asks, part, options) =>
      underLease(lease, async () => permits.beginPart(lease, asks, part, options)),
    beginByHand: async (effect) =>
      commit.write(async () => {
        const { account, storage } = effect
        const source = { workflow: '', account, storage }
        const stop = (await stops.list()).find((each) => coversEffect(each, source))
        return stop ? { stop } : { seq: await effects.note(describeByHand(effect, 'begun')) }
      }),
    endByHand: async ({ seq, outcome, error, before, ...effect }) =>
      commit.write(async () => {
        await effects.note({
          ...describeByHand(effect, 'ended'),
          ofSeq: seq,
          outcome,
          error,
          before: before && JSON.stringify(before),
        })
      }),
    noteOutside: async (act) => commit.write(async () => effects.noteOutside(act)),
    askAgain: async () => commit.write(async () => approvalWaits.asking.begin('guard')),
    stopEffects: async (stop) =>
      commit.write(async () => {
        const { kind, name, since: at, actor, reason } = stop
        const target = describeScope({ kind, name })
        const isNew = await stops.add(stop)
        if (isNew) await effects.note({ at, phase: 'switched', operation: 'stop', target, actor, error: reason })
        return isNew
      }),
    resumeEffects: async (scope, { actor, reason, now: at }) =>
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
    decideApproval: async (decision, now) => commit.write(async () => decisions.decide(decision, now)),
    carryOutDecision: async (now) => commit.write(async () => decisions.carryOut(now)),
    startPlanned: async (planned, word, now) => commit.write(async () => startPlanned(tables, planned, word, now)),
    addApprover: async (approver) => commit.write(async () => addApprover(tables, approver)),
    removeApprover: async (name, now) => commit.write(async () => removeApprover(tables, name, now)),
  }
}
