import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import { confirm } from '../../../terminal/confirm.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox snapshot load <name>`: what happened since is gone. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<name>', 'one of "upshot sandbox snapshot list"')
    .action(async (name, choice) => {
      const sandbox = await findSandbox(choice)
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
      const isMeant = await confirm(out, {
        will: `make the sandbox at ${sandbox.origin} as it was in "${name}"`,
        things: ['files, keys, webhooks, events, deliveries, faults, settings and clock of now are lost'],
      })
      if (isMeant) await sandbox.post(`/snapshots/${encodeURIComponent(name)}/restore`)
      out.result({ name, loaded: isMeant }, () => [
        isMeant ? `Everything is as it was in "${name}".` : 'Nothing was loaded.',
      ])
    })
}
