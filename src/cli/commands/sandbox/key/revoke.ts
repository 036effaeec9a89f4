import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { ApiKey } from '../../../../sandbox/index.ts'
import { confirm } from '../../../terminal/confirm.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox key revoke <id>`. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<id>', 'key_… of "upshot sandbox key list"')
    .action(async (id, choice) => {
      const sandbox = await findSandbox(choice)
      const key = (await sandbox.get<ApiKey[]>('/keys')).find((known) => known.id === id)
      if (key === undefined) throw new UpshotError('not_found', `There is no key ${id}.`)
      const isMeant = await confirm(out, { will: `revoke the key "${key.name}" (…${key.key.slice(-4)}) for ever` })
      if (isMeant) await sandbox.delete(`/keys/${encodeURIComponent(id)}`)
      out.result({ id, name: key.name, revoked: isMeant }, () => [
        isMeant ? `The key "${key.name}" is refused from now on.` : 'Nothing was revoked.',
      ])
    })
}
