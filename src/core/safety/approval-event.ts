import { newId } from '../ids.ts'
import type { SentEvent } from '../runs/wait.ts'
import { isoTime } from '../time.ts'
import type { Approval } from './approval.ts'

/** Types of the events that tell of approvals. Both are in the commit that they tell of. */
const APPROVAL_EVENTS = { opened: 'upshot.approval.opened', closed: 'upshot.approval.closed' } as const

type Facts = Pick<Approval, 'id' | 'kind' | 'workflow' | 'account' | 'why' | 'needs' | 'role' | 'expiresAt'>

/** The facts that only the end of an approval has. */
interface ApprovalEnd extends Pick<Approval, 'status' | 'items'> {
  /** The people whose words decided it. */
  by: readonly string[]
  reason: string | null
}

/** The event of an approval that opens, or that ends with `end`. */
export function planApprovalEvent(
  { id: approval, expiresAt, ...facts }: Facts,
  now: number,
  end: ApprovalEnd | null,
): Omit<SentEvent, 'workflows'> {
  const id = newId('evt', now)
  const type = end === null ? APPROVAL_EVENTS.opened : APPROVAL_EVENTS.closed
  const data = { approval, ...facts, expiresAt: isoTime(expiresAt), ...end }
  const body = JSON.stringify({ id, type, created: isoTime(now), data })
  return { id, type, account: facts.account, createdAt: now, body }
}
