import type { Decision } from '../../../core/safety/approval.ts'
import type { VoteRecord } from '../../../core/safety/votes/vote-record.ts'

export interface VoteRow extends Omit<VoteRecord, 'only'> {
  /** JSON text. */
  only: string | null
}

/** The numbers of the approved items as JSON text; null for all. */
export function describeNumbers(only: Decision['only']): string | null {
  return only === null ? null : JSON.stringify(only)
}

export function readVote({ only, ...vote }: VoteRow): VoteRecord {
  return { ...vote, only: only === null ? null : JSON.parse(only) }
}
