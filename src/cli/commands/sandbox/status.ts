import type { Command } from '@commander-js/extra-typings'
import type { SandboxState } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { atSandbox, findSandbox } from './control/sandbox-control.ts'

/** `upshot sandbox status`: addresses, settings and counts of the running sandbox. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const state = await sandbox.get<SandboxState>('/state')
    out.result({ origin: sandbox.origin, account: `${sandbox.origin}/account`, ...state }, () => [
      out.paint('bold', state.url),
      ...describeState(sandbox.origin, state).map(([name, value]) => `  ${name.padEnd(11)} ${value}`),
    ])
  })
}

function describeState(origin: string, state: SandboxState): [string, string][] {
  const { clock, now, settings, storages, keys, webhooks, faults, transfers, deliveries } = state
  const waiting = deliveries.pending + deliveries.sending
  const changed = Object.entries(settings).flatMap(([name, value]) => (value === true ? name : []))
  return [
    ['account', `${origin}/account`],
    ['downloads', state.downloadOrigin],
    ['clock', `${now} (${clock})`],
    ['plan', settings.plan],
    ['form', settings.form],
    ['switched on', changed.join(', ') || 'nothing'],
    ...storages.map(({ name, dir, files, bytes }): [string, string] => [
      name,
      `${files} files, ${formatBytes(bytes)}, in ${dir}`,
    ]),
    ['API keys', String(keys)],
    ['webhooks', String(webhooks)],
    ['faults', String(faults)],
    ['transfers', `${transfers} running`],
    ['deliveries', `${deliveries.delivered} delivered, ${waiting} pending, ${deliveries.failed} failed`],
  ]
}
