import type { ApprovalReads } from '../../../core/store/safety/approvals.ts'
import type { AuditReads } from '../../../core/store/safety/audit.ts'
import type { EffectReads } from '../../../core/store/safety/effects.ts'
import type { SealReads } from '../../../core/store/safety/seals.ts'
import type { ApprovalSearch } from '../../tables/approvals/approval-search.ts'
import type { ApproverTable } from '../../tables/approvals/approver-table.ts'
import type { VoteTable } from '../../tables/approvals/vote-table.ts'
import type { AuditTable } from '../../tables/safety/audit-table.ts'
import type { EffectSearch } from '../../tables/safety/effect-search.ts'
import type { GuardTable } from '../../tables/safety/guard-table.ts'
import type { SealTable } from '../../tables/safety/seal-table.ts'
import type { StopTable } from '../../tables/safety/stop-table.ts'

interface SafetyTables {
  approvalSearch: ApprovalSearch
  approvers: ApproverTable
  audits: AuditTable
  effectSearch: EffectSearch
  guard: GuardTable
  seals: SealTable
  stops: StopTable
  votes: VoteTable
}

/** The reads of approvals, effects, stops and the audit log. */
export function safetyReads(tables: SafetyTables): ApprovalReads & AuditReads & EffectReads & SealReads {
  const { approvalSearch: approvals, approvers, audits, effectSearch: effects, guard, seals, stops, votes } = tables
  return {
    listActions: async (query) => audits.list(query),
    listEffects: async ({ after, ...query }) =>
      after === undefined ? await effects.list(query) : await effects.listAfter(after, query),
    searchEffects: async (filter, slice) => effects.search(filter, slice),
    pageEffects: async (query) => effects.page(query),
    listSeals: async ({ after = 0, limit }) => seals.list(after, limit),
    listSealKeys: async () => seals.keys(),
    listLostBegins: async ({ prunedTo, limit }) => effects.listLost(prunedTo, limit),
    readSealState: async () => seals.state(),
    listStops: async () => stops.list(),
    listGuardUse: async (now) => guard.list(now),
    listApprovals: async (query) => approvals.list(query),
    findApproval: async (id, now) => approvals.read(id, now),
    listApprovalIds: async (beginning, limit) => approvals.ids(beginning, limit),
    listApprovalItems: async ({ approval, after = 0, limit }) => approvals.listItems(approval, after, limit),
    findQuestion: async (runId, step, now) => approvals.findQuestion(runId, step, now),
    listApprovers: async () => approvers.list(),
    listVotes: async (query) => votes.list(query),
  }
}
