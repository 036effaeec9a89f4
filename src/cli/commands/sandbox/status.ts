import type { Command } from '@commander-js/extra-typings'
import type { SandboxState } from '../../../sandbox/index.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { atSandbox, findSandbox } from './control/sandbox-control.ts'

/** `upshot sandbox status`: asks the sandbox itself. */
export function define(command: Command, out: Output): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(choice)
    const state = await sandbox.get<SandboxState>('/state')
    out.result({ origin: sandbox.origin, account: `${sandbox.origin}/account`, ...state }, () => [
      out.paint('bold', state.url),
      ...factsOf(sandbox.origin, state).map(([name, value]) => `  ${name.padEnd(11)} ${value}`),
    ])
  })
}

function factsOf(origin: string, state: SandboxState): [string, string][] {
  const { clock, now, settings, storages, keys, webhooks, faults, transfers, deliveries } = state
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
    ['transfers', `${transfers} under way`],
    [
      'deliveries',
      `${deliveries.delivered} delivered, ${deliveries.pending + deliveries.sending} to come, ${deliveries.failed} failed`,
    ],
  ]
}
