import type { Command } from '@commander-js/extra-typings'
import type { SandboxState } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { atSandbox, findSandbox } from './control/sandbox-control.ts'

/** `upshot sandbox reset`: resets everything, except the keys and webhooks of a running app. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .option('--keep-access', 'keep API keys and webhooks (always kept while an app runs this sandbox)')
    .addHelpText('after', '\nFiles are kept in storage directories that the sandbox did not create itself.')
    .action(async ({ keepAccess: isAsked = false, ...choice }) => {
      const sandbox = await findSandbox(project, choice)
      const keepAccess = isAsked || sandbox.belongsToApp
      const state = await sandbox.get<SandboxState>('/state')
      const isConfirmed = await confirm(out, {
        will: `reset the sandbox at ${sandbox.origin}`,
        things: describeLosses(state, keepAccess),
      })
      if (isConfirmed) await sandbox.post('/reset', { keepAccess })
      out.result({ reset: isConfirmed, keptAccess: keepAccess }, () => [
        isConfirmed ? `Reset the sandbox at ${sandbox.origin}.` : 'Nothing was reset.',
      ])
      if (!isConfirmed) return
      out.note(
        keepAccess
          ? 'API keys and webhooks are kept.'
          : 'No API key is left. Create one with "upshot sandbox key new".',
      )
    })
}

function describeLosses({ storages, keys, webhooks, faults, deliveries }: SandboxState, keepAccess: boolean): string[] {
  const sent = Object.values(deliveries).reduce((sum, count) => sum + count, 0)
  return [
    ...storages.map(({ name, files, bytes, dir }) => `${name}: ${files} files (${formatBytes(bytes)}) in ${dir}`),
    ...(keepAccess ? [] : [`${keys} API keys and ${webhooks} webhooks`]),
    `${sent} deliveries with their events, every transfer, ${faults} faults, the settings and the clock`,
  ]
}
