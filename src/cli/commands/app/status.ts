import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { describeBroken } from '../../../core/runs/workflow-record.ts'
import { type EffectsMode, presentMode } from '../../../core/safety/stop.ts'
import { listBrokenModules } from '../../../core/store/health/list-broken-modules.ts'
import { listSwitches } from '../../../core/store/safety/list-switches.ts'
import { isoTime } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { findRunningApp, type RunningApp } from '../../open/running-app.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { describeSweepView, readSweepViews, type SweepView } from '../events/losses/sweep-view.ts'

/**
 * `upshot status`: the running app's state and addresses, modules that cannot be loaded, and how
 * sweeps stand. It exits with 7 where an event was lost within a week.
 */
export function define(command: Command, { out, project }: Cli): void {
  command.action(async () => {
    const { dataDir } = await project.load()
    const app = await findRunningApp({ dataDir })
    if (app === null) throw new UpshotError('not_running', `No app is running on ${dataDir}.`)
    const sweeps = await readSweeps(project)
    const effects = await readMode(project)
    const broken = await readBroken(project)
    if (sweeps.some(({ lost, held }) => lost + held > 0)) out.leaveWith('difference')
    if (!app.isReady) out.leaveWith('temporary')
    const { isReady, pid, startedAt, receiver, admin, sandbox, checks } = app
    // The sandbox's key in `app` must not be shown.
    const facts = { pid, startedAt, receiver, admin, sandbox: sandbox?.origin ?? null, effects, checks, broken }
    out.result({ running: true, ready: isReady, dataDir, ...facts, sweeps: sweeps.map(describeTimes) }, () => [
      describeState(app, out),
      ...(effects === 'plan'
        ? [out.paint('yellow', '  NOTHING ACTS: runs are only planned (UPSHOT_EFFECTS=plan).')]
        : []),
      ...broken.map((module) => out.paint('red', `  ${describeBroken(module)}`)),
      `  receiver  ${receiver}`,
      `  admin     ${admin}`,
      `  sandbox   ${sandbox?.origin ?? '– (the real service)'}`,
      `  data      ${dataDir}`,
      ...sweeps.map((view) => `  sweep     ${describeSweepView(view, commandClock.now())}`),
    ])
  })
}

/** None while the database does not answer: `checks` says so. */
function readSweeps(project: Cli['project']): Promise<SweepView[]> {
  return project.withReads((store) => readSweepViews(store, commandClock.now())).catch(() => [])
}

/** Null while the database does not answer. */
function readMode(project: Cli['project']): Promise<EffectsMode | null> {
  return project.withReads(async (store) => presentMode(await listSwitches(store))).catch(() => null)
}

/** None while the database does not answer. */
function readBroken(project: Cli['project']) {
  return project.withReads((store) => listBrokenModules(store, commandClock.now())).catch(() => [])
}

function describeTimes({ complete, ...view }: SweepView): object {
  return { ...view, complete: complete && { at: isoTime(complete.endedAt) } }
}

function describeState({ isReady, pid, startedAt, checks }: RunningApp, { paint }: Output): string {
  const since = formatMoment(Date.parse(startedAt), commandClock.now())
  const faults = Object.entries(checks).flatMap(([name, result]) => (result === 'ok' ? [] : `${name}: ${result}`))
  const state = isReady ? paint('green', 'ready') : paint('red', `not ready (${faults.join(', ')})`)
  return `An app is running here, ${state}: process ${pid}, since ${since}.`
}
