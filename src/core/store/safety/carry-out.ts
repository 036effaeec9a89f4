import type { DecisionResult } from '../../safety/approval.ts'
import type { Clock } from '../../time.ts'
import type { ApprovalWrites } from './approvals.ts'

type Carrier = Pick<ApprovalWrites, 'carryOutDecision'>

/**
 * Carries out what writes have begun, commit by commit; returns the runs that it woke. When
 * `signal` aborts, the rest waits for the next recovery.
 */
export async function carryOutAll(store: Carrier, clock: Pick<Clock, 'now'>, signal?: AbortSignal): Promise<number> {
  let woken = 0
  while (signal?.aborted !== true) {
    const more = await store.carryOutDecision(clock.now())
    if (more === null) break
    woken += more
  }
  return woken
}

/**
 * The same after a write of a person. That is made already, so a failure here is none of it:
 * workers go on where this ends.
 */
export async function carryOutRest(store: Carrier, clock: Pick<Clock, 'now'>): Promise<number> {
  let woken = 0
  const counted: Carrier = {
    async carryOutDecision(now) {
      const more = await store.carryOutDecision(now)
      woken += more ?? 0
      return more
    },
  }
  await carryOutAll(counted, clock).catch(() => {})
  return woken
}

/** Carries out a person's word about a long list. */
export async function carryOut(
  store: Carrier,
  result: DecisionResult,
  clock: Pick<Clock, 'now'>,
): Promise<DecisionResult> {
  if (result.status === 'open') return result
  return { ...result, woken: result.woken + (await carryOutRest(store, clock)) }
}
