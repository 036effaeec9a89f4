import { listCancelRules } from '../../author/read-workflow.ts'
import type { AnyCancelRule, AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import { accountOf } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import type { EventWait } from '../../core/runs/wait.ts'
import { silence } from '../../core/thenable.ts'
import type { Cause } from '../admit/cause.ts'
import type { Pass } from '../pass/pass.ts'
import { planWait } from '../steps/wait-step.ts'

/**
 * Registers the run's `cancelOn` rules before its code begins; a result ends the pass instead.
 * Every pass does, because a run that a person retried or resumed has lost its waits.
 */
export async function watchCancels(pass: Pass, workflow: AnyWorkflow, cause: Cause): Promise<RunOutcome | null> {
  const rules = listCancelRules(workflow)
  if (rules.length === 0) return null
  try {
    const waits = rules.flatMap((rule) => planCancel(pass, rule, cause) ?? [])
    if (waits.length === 0) return null
    const isOurs = await pass.store.watchRun(pass.run.lease, waits, pass.clock.now())
    // An event that is stored already cancels the run before its code does anything.
    if (isOurs) await pass.matcher.catchUp()
    return isOurs && !pass.abort.signal.aborted ? null : { kind: 'lost' }
  } catch (error) {
    return {
      kind: 'parked',
      dueAt: null,
      reason: `its \`cancelOn\` failed: ${describeError(error).message}`,
    }
  }
}

/** Null where the cause lacks one of the values: then no event can match. */
function planCancel(pass: Pass, { on, where = {} }: AnyCancelRule, { account: _, ...cause }: Cause): EventWait | null {
  const [value] = Object.values(cause)
  const values = Object.entries(where).map(([name, compute]) => [name, silence(compute(value as never))] as const)
  if (values.some(([, each]) => each === null || each === undefined)) return null
  const account = accountOf(pass.run.cause)
  return planWait({ on, where: Object.fromEntries(values), since: 'run' }, { account, now: pass.clock.now() })
}
