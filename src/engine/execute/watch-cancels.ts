import { listCancelRules } from '../../author/read-workflow.ts'
import type { AnyCancelRule, AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import { accountOf } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import type { EventWait } from '../../core/runs/wait.ts'
import type { Cause } from '../admit/cause.ts'
import type { Pass } from '../pass/pass.ts'
import { planWait } from '../steps/wait-step.ts'

/**
 * Names the events that end this run, before its code begins. In every pass: a run that a person
 * brought back has lost what it waited for. Gives how the pass ends where it must not begin.
 */
export async function watchCancels(pass: Pass, workflow: AnyWorkflow, cause: Cause): Promise<RunOutcome | null> {
  const rules = listCancelRules(workflow)
  if (rules.length === 0) return null
  try {
    const waits = rules.flatMap((rule) => planCancel(pass, rule, cause) ?? [])
    if (waits.length === 0) return null
    const goesOn = await pass.store.watchRun(pass.run.lease, waits, pass.clock.now())
    // An event that was stored before the run came up ends it before it does anything.
    if (goesOn) await pass.matcher.catchUp()
    return goesOn && !pass.abort.signal.aborted ? null : { kind: 'lost' }
  } catch (error) {
    return {
      kind: 'parked',
      dueAt: null,
      reason: `its \`cancelOn\` cannot be followed: ${describeError(error).message}`,
    }
  }
}

/** Null: the cause has no such value, so that no event can match it. */
function planCancel(pass: Pass, { on, where = {} }: AnyCancelRule, { account: _, ...cause }: Cause): EventWait | null {
  const [value] = Object.values(cause)
  const values = Object.entries(where).map(([name, compute]) => [name, compute(value as never)] as const)
  if (values.some(([, each]) => each === null || each === undefined)) return null
  const account = accountOf(pass.run.cause)
  return planWait({ on, where: Object.fromEntries(values), since: 'run' }, { account, now: pass.clock.now() })
}
