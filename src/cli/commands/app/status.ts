import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { findRunningApp, type RunningApp } from '../../open/running-app.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'

/** `upshot status`: the running app's state and addresses. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(async () => {
    const { dataDir } = await project.load()
    const app = await findRunningApp({ dataDir })
    if (app === null) throw new UpshotError('not_running', `No app is running on ${dataDir}.`)
    if (!app.isReady) out.leaveWith('temporary')
    const { isReady, pid, startedAt, receiver, admin, sandbox, checks } = app
    // The sandbox's key in `app` must not be shown.
    const facts = { pid, startedAt, receiver, admin, sandbox: sandbox?.origin ?? null, checks }
    out.result({ running: true, ready: isReady, dataDir, ...facts }, () => [
      describeState(app, out),
      `  receiver  ${receiver}`,
      `  admin     ${admin}`,
      `  sandbox   ${sandbox?.origin ?? '– (the real service)'}`,
      `  data      ${dataDir}`,
    ])
  })
}

function describeState({ isReady, pid, startedAt, checks }: RunningApp, { paint }: Output): string {
  const since = formatMoment(Date.parse(startedAt), Date.now())
  const faults = Object.entries(checks).flatMap(([name, result]) => (result === 'ok' ? [] : `${name}: ${result}`))
  const state = isReady ? paint('green', 'ready') : paint('red', `not ready (${faults.join(', ')})`)
  return `An app is running here, ${state}: process ${pid}, since ${since}.`
}
