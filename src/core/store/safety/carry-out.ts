import type { DecisionResult } from '../../safety/approval.ts'
import type { Clock } from '../../time.ts'
import type { ApprovalWrites } from './approvals.ts'

/**
 * Carries out a decision about a long list, commit by commit. It is made already, so a failure
 * here is none of it: workers go on where this ends.
 */
export async function carryOut(
  store: Pick<ApprovalWrites, 'carryOutDecision'>,
  result: DecisionResult,
  clock: Pick<Clock, 'now'>,
): Promise<DecisionResult> {
  let { woken } = result
  if (result.status === 'open') return result
  try {
    for (;;) {
      const more = await store.carryOutDecision(clock.now())
      if (more === null) return { ...result, woken }
      woken += more
    }
  } catch {
    return { ...result, woken }
  }
}
