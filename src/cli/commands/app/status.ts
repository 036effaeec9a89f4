import type { AnswerOf } from '../../../admin/client/index.ts'
import { UpshotError } from '../../../core/errors.ts'
import { describeBroken } from '../../../core/runs/workflow-record.ts'
import { readIso } from '../../../core/time.ts'
import { commandClock } from '../../command-clock.ts'
import { actCommand } from '../../operate/act-command.ts'
import { formatAge, formatMoment } from '../../terminal/format-value.ts'
import { describeSweepView } from '../events/losses/sweep-view.ts'

type Process = AnswerOf<'GET /system'>['processes'][number]

/** `upshot status`: exits with 6 where nothing is ready, with 7 where an event was lost lately. */
export const define = actCommand('GET /system', {
  done({ isReady, checks, warnings, processes, effects, sandboxUrl, blockedKeys, sweeps }, _, { out: { paint } }) {
    const alive = processes.filter(({ isSilent }) => !isSilent)
    if (alive.length === 0) throw new UpshotError('not_running', 'No process of the app is running.')
    const faults = Object.entries(checks).flatMap(([name, result]) => (result === 'ok' ? [] : `${name}: ${result}`))
    const faulty = new Set([...warnings, ...alive.flatMap((each) => each.broken.map(describeBroken))])
    return [
      isReady ? paint('green', 'ready') : paint('red', `not ready (${faults.join(', ')})`),
      ...(effects === 'plan' ? [paint('yellow', '  NOTHING ACTS: runs are only planned (UPSHOT_EFFECTS=plan).')] : []),
      ...[...faulty].map((warning) => paint('red', `  ${warning}`)),
      ...alive.flatMap(describeProcess),
      ...(sandboxUrl === null ? [] : [`  sandbox   ${sandboxUrl}`]),
      ...blockedKeys.map(({ account, key, until }) => {
        const wait = `the service told it to wait until ${formatMoment(until)}`
        return paint('yellow', `  key       ${key} of the account ${account}: ${wait}`)
      }),
      ...sweeps.map((view) => `  sweep     ${describeSweepView(view)}`),
    ]
  },
  leave({ isReady, sweeps }) {
    if (!isReady) return 'temporary'
    return sweeps.some(({ lost, held }) => lost + held > 0) ? 'difference' : null
  },
})

/** One that was killed counts as silent only after a while; until then, its last beat tells. */
function describeProcess({ pid, role, version, startedAt, seenAt, receiverUrl, adminUrl }: Process) {
  const [since, silence] = [formatMoment(startedAt), formatAge(readIso(seenAt), commandClock.now())]
  return [
    `  process   ${pid}, role ${role}, version ${version}, since ${since}, last seen ${silence} ago`,
    ...(receiverUrl === null ? [] : [`  receiver  ${receiverUrl}`]),
    `  admin     ${adminUrl}`,
  ]
}
