import { type Command, Option } from '@commander-js/extra-typings'
import { STORAGES } from '../../../../core/service/storage.ts'
import type { ApiKey, KeyScope, Permission } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'
import { describeScope } from '../control/view.ts'

const PERMISSIONS = ['files:read', 'files:delete', 'account:read', 'account:write'] as const satisfies Permission[]

/** `upshot sandbox key new`: creates an API key and prints it. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('[name]', 'name of the key', 'made on the command line')
    .addOption(
      new Option('--scope <scope>', 'scope of the key (default: read-write)')
        .choices(['read-only', 'read-write', 'admin'])
        .conflicts('permission'),
    )
    .addOption(new Option('--permission <permissions...>', 'custom scope: only these permissions').choices(PERMISSIONS))
    .addOption(new Option('--storage <storages...>', 'custom scope: only these storages').choices(STORAGES))
    .option('--expires <moment>', 'time of expiry in ISO 8601 (default: never)')
    .action(async (name, { scope, permission, storage, expires, ...choice }) => {
      const wanted: KeyScope =
        permission === undefined && storage === undefined
          ? (scope ?? 'read-write')
          : { custom: permission ?? ['files:read', 'files:delete'], storages: storage ?? [...STORAGES] }
      const sandbox = await findSandbox(project, choice)
      if (isRehearsal(out, `create the key "${name}", ${describeScope(wanted)}`)) return
      const key = await sandbox.post<ApiKey>('/keys', { name, scope: wanted, expiresAt: expires ?? null })
      out.result(key, () => [key.key])
      out.note(`${key.id}, ${describeScope(key.scope)}. It works with sandboxes only.`)
    })
}
