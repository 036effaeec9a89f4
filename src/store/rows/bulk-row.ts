import type { BulkOperation, BulkStatus } from '../../core/safety/bulk.ts'

export interface BulkRow {
  id: string
  plan: string
  status: BulkStatus
  count: string
  cursor: string | null
  done: number
  refused: number
  ended_at: number | null
}

export function readBulk({ plan, status, count, cursor, done, refused, ended_at: endedAt }: BulkRow): BulkOperation {
  return { ...JSON.parse(plan), status, count: JSON.parse(count), cursor, done, refused, endedAt }
}
