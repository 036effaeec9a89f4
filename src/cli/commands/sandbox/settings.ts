import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import type { Settings } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { atSandbox, findSandbox, isRehearsal } from './control/sandbox-control.ts'

/**
 * `upshot sandbox settings [name=value…]`: shows or changes settings. Most decide a point that the
 * service's documents leave open.
 */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument(
      '[changes...]',
      'changes as name=value, such as plan=pro form=mixed deleteFolders=true (default: show all)',
    )
    .action(async (texts, choice) => {
      const changes = Object.fromEntries(texts.map(parseChange))
      const sandbox = await findSandbox(project, choice)
      if (texts.length > 0 && isRehearsal(out, `set ${texts.join(' ')}`)) return
      const settings =
        texts.length > 0
          ? await sandbox.patch<Settings>('/settings', changes)
          : await sandbox.get<Settings>('/settings')
      out.result(settings, () => Object.entries(settings).map(([name, value]) => `${name.padEnd(20)} ${value}`))
    })
}

function parseChange(text: string): [string, string | boolean] {
  const [, name, value] = /^(\w+)=(\S+)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, /^(true|false)$/.test(value) ? value === 'true' : value]
  throw new UpshotError('invalid_request', `"${text}" is not a change of a setting.`, {
    details: { fix: 'Write it as name=value, such as plan=pro. "upshot sandbox settings" lists the names.' },
  })
}
