import type { Lease } from '../../../core/runs/lease.ts'
import type { ApprovalWrites } from '../../../core/store/safety/approvals.ts'
import type { EffectWrites } from '../../../core/store/safety/effects.ts'
import { describeStale } from '../../rows/runs/describe-stale.ts'
import type { ApprovalTable } from '../../tables/approvals/approval-table.ts'
import type { ApproverTable } from '../../tables/approvals/approver-table.ts'
import { addApprover, removeApprover } from '../../tables/approvals/register-approvers.ts'
import type { ApprovalDecisions } from '../../tables/limits/approval-decisions.ts'
import { beginByHand, endByHand, resumeEffects, stopEffects } from '../../tables/limits/effect-writes.ts'
import type { Permits } from '../../tables/limits/permits.ts'
import { startPlanned } from '../../tables/limits/start-planned.ts'
import type { RunOperations } from '../../tables/runs/run-operations.ts'
import type { EffectTable } from '../../tables/safety/effect-table.ts'
import type { StopTable } from '../../tables/safety/stop-table.ts'
import type { ApprovalWaits } from '../../tables/waits/approval-waits.ts'
import type { GroupCommit } from '../database/group-commit.ts'

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
export function effectWrites(tables: EffectTables, commit: Commit): EffectWrites {
  const { permits, approvalWaits, effects } = tables
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
    beginByHand: async (effect) => commit.write(() => beginByHand(tables, effect)),
    endByHand: async (effect) => commit.write(() => endByHand(tables, effect)),
    noteOutside: async (act) => commit.write(async () => effects.noteOutside(act)),
    askAgain: async () => commit.write(async () => approvalWaits.asking.begin('guard')),
    stopEffects: async (stop) => commit.write(() => stopEffects(tables, stop)),
    resumeEffects: async (scope, by) => commit.write(() => resumeEffects(tables, scope, by)),
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
