import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox snapshot load <name>`: restores a snapshot; the current state is lost. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<name>', 'name of the snapshot, from "upshot sandbox snapshot list"')
    .action(async (name, choice) => {
      const sandbox = await findSandbox(project, choice)
      const known = await sandbox.get<string[]>('/snapshots')
      if (!known.includes(name)) {
        throw new UpshotError('not_found', `There is no snapshot "${name}".`, {
          details: {
            fix:
              known.length === 0
                ? 'Save one with "upshot sandbox snapshot save <name>".'
                : `Choose one of: ${known.join(', ')}.`,
          },
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
    })
}
