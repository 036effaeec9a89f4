import type { DecisionResult } from '../safety/approval.ts'
import type { AuditedAction, Operator } from '../safety/audit.ts'
import type { Clock } from '../time.ts'
import { OPERATOR_WRITES, type OperatorWrite, type OperatorWrites } from './operator-writes.ts'
import type { StoreWrites } from './store.ts'

/**
 * The writes of persons in an operator's name: each appends its audit row in its own commit. A
 * command or route that writes through these cannot forget the row.
 */
export function asOperator(
  store: Pick<StoreWrites, 'operate' | 'carryOutDecision'>,
  operator: Operator,
  clock: Pick<Clock, 'now'>,
): OperatorWrites {
  const perform = (write: OperatorWrite, args: unknown[]) => {
    const describe = OPERATOR_WRITES[write] as (...args: unknown[]) => AuditedAction
    return store.operate({ ...operator, ...describe(...args), at: clock.now() }, { write, args: args as never })
  }
  const names = Object.keys(OPERATOR_WRITES) as OperatorWrite[]
  const writes = names.map((name) => [name, (...args: unknown[]) => perform(name, args)])
  const plain = Object.fromEntries(writes) as OperatorWrites
  const wholly = async <Result>(write: Promise<Result>): Promise<Result> => {
    const result = await write
    await carryOutRest(store, clock)
    return result
  }
  return {
    ...plain,
    cancelRun: (...args) => wholly(plain.cancelRun(...args)),
    retryRun: (...args) => wholly(plain.retryRun(...args)),
    resumeRun: (...args) => wholly(plain.resumeRun(...args)),
    decideApproval: async (...args) => carryOut(store, await plain.decideApproval(...args), clock),
    async resumeEffects(...args) {
      const woken = await plain.resumeEffects(...args)
      return woken === null ? null : woken + (await carryOutRest(store, clock))
    },
  }
}

type Carrier = Pick<StoreWrites, 'carryOutDecision'>

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
