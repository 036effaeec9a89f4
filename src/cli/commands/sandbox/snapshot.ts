import { UpshotError } from '../../../core/errors.ts'
import { confirm } from '../../terminal/confirm.ts'
import { atSandbox, isRehearsal, sandboxCommand } from './sandbox-command.ts'

/** `upshot sandbox snapshot save <name>`: saves the state; asks before it replaces a snapshot. */
export const save = sandboxCommand(
  (command) =>
    command
      .argument('<name>', 'name of the snapshot: letters, digits and "-"')
      .addHelpText('after', '\nRunning transfers are canceled, so that no file changes while the snapshot is saved.'),
  async ({ out, sandbox }, _, name) => {
    const exists = (await sandbox.get<string[]>('/snapshots')).includes(name)
    if (!exists && isRehearsal(out, `save the state as "${name}"`)) return
    const isConfirmed = !exists || (await confirm(out, { will: `replace the snapshot "${name}"` }))
    if (isConfirmed) await sandbox.put(`/snapshots/${encodeURIComponent(name)}`)
    out.result({ name, saved: isConfirmed, replaced: exists && isConfirmed }, () => [
      isConfirmed
        ? `Saved the snapshot "${name}". Restore it with "upshot sandbox snapshot load ${name}".`
        : 'Nothing was saved.',
    ])
  },
)

export const load = sandboxCommand(
  (command) => command.argument('<name>', 'name of the snapshot, from "upshot sandbox snapshot list"'),
  async ({ out, sandbox }, _, name) => {
    const known = await sandbox.get<string[]>('/snapshots')
    if (!known.includes(name)) {
      throw new UpshotError('not_found', `There is no snapshot "${name}".`, {
        fix:
          known.length === 0
            ? 'Save one with "upshot sandbox snapshot save <name>".'
            : `Choose one of: ${known.join(', ')}.`,
      })
    }
    const isConfirmed = await confirm(out, {
      will: `restore the sandbox at ${sandbox.origin} from the snapshot "${name}"`,
      things: ['the current files, keys, webhooks, events, deliveries, faults, settings and clock are lost'],
    })
    if (isConfirmed) await sandbox.post(`/snapshots/${encodeURIComponent(name)}/restore`)
    out.result({ name, loaded: isConfirmed }, () => [
      isConfirmed ? `Restored the snapshot "${name}".` : 'Nothing was restored.',
    ])
  },
)

export const list = atSandbox(async ({ out, sandbox }) => {
  const names = await sandbox.get<string[]>('/snapshots')
  out.result(names, () => names)
  if (names.length === 0) out.note('No snapshot yet. Save one with "upshot sandbox snapshot save <name>".')
})
