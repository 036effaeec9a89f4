import type { ApprovalItem } from '../../../core/safety/approval.ts'
import { type Asked, describeAsked } from '../../../core/safety/effect.ts'
import type { ItemRow } from '../../rows/approvals/approval-rows.ts'

export function readItem(row: ItemRow): ApprovalItem {
  const { number, run_id: runId, step, target, hash, state } = row
  return { number, runId, step, target, asked: readAsked(row.asked), hash, state }
}

export function readAsked(text: string | null): Asked | null {
  return text === null ? null : JSON.parse(text)
}

/** True where a stored state is the one that is asked for now. */
export function isAskedAgain(stored: string | null, asked: Asked | null): boolean {
  return describeAsked(readAsked(stored)) === describeAsked(asked)
}
