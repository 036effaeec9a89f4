import type { Command } from '@commander-js/extra-typings'
import { loadProject } from '../../open/open-project.ts'
import { findRunningApp, type RunningApp } from '../../open/running-app.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'

/** `upshot status`: asks the app itself, since the runtime file outlives a crash. */
export function define(command: Command, out: Output): void {
  command.action(async () => {
    const { dataDir } = await loadProject()
    const app = await findRunningApp({ dataDir })
    if (app === null) {
      out.result({ running: false, dataDir }, () => [`No app runs on ${dataDir}.`])
      out.note('Start it with "npm start".')
      return
    }
    const { isReady, pid, startedAt, receiver, admin, sandbox, checks } = app
    // Address by address: the runtime file also holds the sandbox's key.
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
  return `An app runs here, ${state}: process ${pid}, since ${since}.`
}
