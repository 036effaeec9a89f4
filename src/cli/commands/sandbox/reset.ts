import type { Command } from '@commander-js/extra-typings'
import type { SandboxState } from '../../../sandbox/index.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { atSandbox, findSandbox } from './control/sandbox-control.ts'

/** `upshot sandbox reset`: what an app needs to go on working with its own sandbox stays. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .option('--keep-access', 'keep API keys and webhooks (always so where an app runs with it)')
    .addHelpText('after', '\nDirectories of storages that the sandbox did not make itself keep their files.')
    .action(async ({ keepAccess: isAsked = false, ...choice }) => {
      const sandbox = await findSandbox(choice)
      const keepAccess = isAsked || sandbox.belongsToApp
      const state = await sandbox.get<SandboxState>('/state')
      const isMeant = await confirm(out, {
        will: `reset the sandbox at ${sandbox.origin}`,
        things: lossesOf(state, keepAccess),
      })
      if (isMeant) await sandbox.post('/reset', { keepAccess })
      out.result({ reset: isMeant, keptAccess: keepAccess }, () => [
        isMeant ? `The sandbox at ${sandbox.origin} is as at its first start.` : 'Nothing was reset.',
      ])
      if (!isMeant) return
      out.note(keepAccess ? 'Keys and webhooks are kept.' : 'No key is left: make one with "upshot sandbox key new".')
    })
}

function lossesOf({ storages, keys, webhooks, faults, deliveries }: SandboxState, keepAccess: boolean): string[] {
  const sent = Object.values(deliveries).reduce((sum, count) => sum + count, 0)
  return [
    ...storages.map(({ name, files, bytes, dir }) => `${name}: ${files} files (${formatBytes(bytes)}) in ${dir}`),
    ...(keepAccess ? [] : [`${keys} API keys and ${webhooks} webhooks`]),
    `${sent} deliveries with their events, every transfer, ${faults} faults, the settings and the clock`,
  ]
}
