import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/client/index.ts'
import { UpshotError } from '../../../core/errors.ts'
import { describeBroken } from '../../../core/runs/workflow-record.ts'
import { readIso } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../command-clock.ts'
import { call } from '../../open/operations.ts'
import { formatAge, formatMoment } from '../../terminal/format-value.ts'
import { describeSweepView } from '../events/losses/sweep-view.ts'

type Process = AnswerOf<'GET /system'>['processes'][number]

/** `upshot status`: exits with 6 where nothing is ready, with 7 where an event was lost lately. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withOperations(async (operations) => {
      const system = await call(operations, 'GET /system')
      const { isReady, checks, effects, sandboxUrl, blockedKeys, sweeps } = system
      const alive = system.processes.filter(({ isSilent }) => !isSilent)
      if (alive.length === 0) throw new UpshotError('not_running', 'No process of the app is running.')
      if (sweeps.some(({ lost, held }) => lost + held > 0)) out.leaveWith('difference')
      if (!isReady) out.leaveWith('temporary')
      const faults = Object.entries(checks).flatMap(([name, result]) => (result === 'ok' ? [] : `${name}: ${result}`))
      const broken = new Set(alive.flatMap((each) => each.broken.map(describeBroken)))
      out.result(system, () => [
        isReady ? out.paint('green', 'ready') : out.paint('red', `not ready (${faults.join(', ')})`),
        ...(effects === 'plan'
          ? [out.paint('yellow', '  NOTHING ACTS: runs are only planned (UPSHOT_EFFECTS=plan).')]
          : []),
        ...[...broken].map((module) => out.paint('red', `  ${module}`)),
        ...alive.flatMap(describeProcess),
        ...(sandboxUrl === null ? [] : [`  sandbox   ${sandboxUrl}`]),
        ...blockedKeys.map(({ account, key, until }) =>
          out.paint(
            'yellow',
            `  key       ${key} of the account ${account}: the service told it to wait until ${formatMoment(until)}`,
          ),
        ),
        ...sweeps.map((view) => `  sweep     ${describeSweepView(view)}`),
      ])
    }),
  )
}

/** One that was killed counts as silent only after a while; until then, its last beat tells. */
function describeProcess({ pid, role, version, startedAt, seenAt, receiverUrl, adminUrl }: Process) {
  const [since, silence] = [formatMoment(startedAt), formatAge(readIso(seenAt), commandClock.now())]
  return [
    `  process   ${pid}, role ${role}, version ${version}, since ${since}, last seen ${silence} ago`,
    ...(receiverUrl === null ? [] : [`  receiver  ${receiverUrl}`]),
    `  admin     ${adminUrl}`,
  ]
}
