import type { AuditedAction, Operator } from '../../safety/audit.ts'
import type { Clock } from '../../time.ts'
import type { ApprovalWrites } from './approvals.ts'
import type { AuditWrites } from './audit.ts'
import { carryOut, carryOutRest } from './carry-out.ts'
import { OPERATOR_WRITES, type OperatorWrite, type OperatorWrites } from './operator-writes.ts'

/**
 * The writes of persons in an operator's name: each appends its audit row in its own commit. A
 * command or route that writes through these cannot forget the row.
 */
export function asOperator(
  store: Pick<AuditWrites, 'operate'> & Pick<ApprovalWrites, 'carryOutDecision'>,
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
