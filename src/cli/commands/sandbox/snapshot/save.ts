import type { Command } from '@commander-js/extra-typings'
import { confirm } from '../../../terminal/confirm.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox snapshot save <name>`: asks before it replaces one. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<name>', 'letters, digits and "-"')
    .addHelpText('after', '\nTransfers that run are canceled: nothing may move meanwhile.')
    .action(async (name, choice) => {
      const sandbox = await findSandbox(choice)
      const isThere = (await sandbox.get<string[]>('/snapshots')).includes(name)
      if (!isThere && isRehearsal(out, `save everything as "${name}"`)) return
      const isMeant = !isThere || (await confirm(out, { will: `replace the snapshot "${name}"` }))
      if (isMeant) await sandbox.put(`/snapshots/${encodeURIComponent(name)}`)
      out.result({ name, saved: isMeant, replaced: isThere && isMeant }, () => [
        isMeant ? `Saved as "${name}". Come back with "upshot sandbox snapshot load ${name}".` : 'Nothing was saved.',
      ])
    })
}
