import { findEvent } from '../../../../admin/queries/find-event.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { newId } from '../../../../core/ids.ts'
import { hashPlanned } from '../../../../core/store/planned-run.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import type { PersonStore } from '../../../open/operations.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import { signVote, type Voter } from '../approvals/decide.ts'
import { type PlanFile, readPlanFile } from './plan-file.ts'

interface PlannedReplay extends Voter {
  /** The event and the workflow, where they are named as well. */
  event: string
  workflow: string | undefined
  account: string | undefined
  plan: string
}

export async function replayPlan(
  { out, project }: Pick<Cli, 'out' | 'project'>,
  store: PersonStore,
  { config, plan: file, ...given }: PlannedReplay & { config: Config },
): Promise<void> {
  const plan = readPlanFile(file)
  const event = await findEvent(store, { id: given.event, account: given.account ?? plan.account })
  requireSame(plan, { event: event.id, account: event.account, workflow: given.workflow ?? plan.workflow })
  const will = `start a run of ${plan.workflow} on ${event.id} that may do these ${plan.effects.length} effects`
  if (out.given.dryRun) {
    await confirm(out, { will, things: plan.effects.map(describeItem) })
    return out.result({ dryRun: true, plan: plan.hash }, () => ['Nothing was started.'])
  }
  const now = commandClock.now()
  const [run, approval] = [newId('run', now), newId('apr', now)]
  const { as, keyFile } = given
  const { actor, reason } = project.operator
  const { needs, expireMs } = config.guardPolicy.approvals
  const items = plan.effects.map(({ step, target, asked }) => ({ step, target, asked }))
  const planned = {
    event: { id: event.id, account: event.account },
    workflow: plan.workflow,
    run,
    approval,
    items,
    needs,
    why: `under the plan ${plan.hash.slice(0, 8)} of ${event.id}`,
    expiresAt: now + expireMs,
  }
  const word = { actor: as ?? actor, reason, hash: hashPlanned(planned) }
  const whole = { ...word, approval, verdict: 'approved', only: null, answer: null, signature: null } as const
  const result = await store.startPlanned(
    planned,
    { ...word, signature: keyFile === undefined ? null : signVote(whole, keyFile) },
    now,
  )
  const about = { event: event.id, workflow: plan.workflow, run, approval: items.length === 0 ? null : approval }
  out.result({ dryRun: false, ...about, ...result, plan: plan.hash }, () => [
    `Run ${run} may do ${result.granted} of ${items.length} effects by itself. It asks for any other.`,
    ...(result.missing === 0 ? [] : [`${result.missing} more people have to agree to approval ${approval}.`]),
  ])
}

function requireSame(plan: PlanFile, named: Pick<PlanFile, 'event' | 'account' | 'workflow'>): void {
  for (const part of ['event', 'account', 'workflow'] as const) {
    if (plan[part] === named[part]) continue
    throw new UpshotError('conflict', `The plan is for the ${part} ${plan[part]}, not for ${named[part]}.`, {
      fix: 'Name the event and the workflow of the plan, or make another plan.',
    })
  }
}

function describeItem({ class: kind, step, target, asked }: PlanFile['effects'][number]): string {
  const size = asked?.isFolder ? '  folder' : asked?.bytes == null ? '' : `  ${formatBytes(asked.bytes)}`
  return `${kind.toUpperCase()}  ${asked?.path ?? target ?? step}${size}`
}
