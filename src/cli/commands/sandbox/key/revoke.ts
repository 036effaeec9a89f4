import type { Command } from '@commander-js/extra-typings'
import { resolveAmong } from '../../../../admin/queries/resolve-id.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { ApiKey } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox key revoke <id>`: revokes an API key for good. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<id>', 'id of the key, key_…, or its beginning, from "upshot sandbox key list"')
    .action(async (given, choice) => {
      const sandbox = await findSandbox(project, choice)
      const key = resolveAmong(given, await sandbox.get<ApiKey[]>('/keys'))
      if (key === null)
        throw new UpshotError('not_found', `There is no key ${given}.`, {
          details: { fix: 'List the keys with "upshot sandbox key list".' },
        })
      const isConfirmed = await confirm(out, { will: `revoke the key "${key.name}" (…${key.key.slice(-4)}) for good` })
      if (isConfirmed) await sandbox.delete(`/keys/${encodeURIComponent(key.id)}`)
      out.result({ id: key.id, name: key.name, revoked: isConfirmed }, () => [
        isConfirmed ? `Revoked the key "${key.name}".` : 'Nothing was revoked.',
      ])
    })
}
