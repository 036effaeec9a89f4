import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox snapshot save <name>`: saves the state; asks before it replaces a snapshot. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<name>', 'name of the snapshot: letters, digits and "-"')
    .addHelpText('after', '\nRunning transfers are canceled, so that no file changes while the snapshot is saved.')
    .action(async (name, choice) => {
      const sandbox = await findSandbox(project, choice)
      const exists = (await sandbox.get<string[]>('/snapshots')).includes(name)
      if (!exists && isRehearsal(out, `save the state as "${name}"`)) return
      const isConfirmed = !exists || (await confirm(out, { will: `replace the snapshot "${name}"` }))
      if (isConfirmed) await sandbox.put(`/snapshots/${encodeURIComponent(name)}`)
      out.result({ name, saved: isConfirmed, replaced: exists && isConfirmed }, () => [
        isConfirmed
          ? `Saved the snapshot "${name}". Restore it with "upshot sandbox snapshot load ${name}".`
          : 'Nothing was saved.',
      ])
    })
}
