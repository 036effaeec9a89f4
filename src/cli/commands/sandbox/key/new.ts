import { type Command, Option } from '@commander-js/extra-typings'
import { STORAGES } from '../../../../core/service/storage.ts'
import type { ApiKey, KeyScope, Permission } from '../../../../sandbox/index.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'
import { describeScope } from '../control/view.ts'

const PERMISSIONS = ['files:read', 'files:delete', 'account:read', 'account:write'] as const satisfies Permission[]

/** `upshot sandbox key new`: the one place where the command line shows a key. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('[name]', 'what it is for', 'made on the command line')
    .addOption(
      new Option('--scope <scope>', 'what it may do (default: read-write)')
        .choices(['read-only', 'read-write', 'admin'])
        .conflicts('permission'),
    )
    .addOption(
      new Option('--permission <permissions...>', 'a custom scope: only these operations').choices(PERMISSIONS),
    )
    .addOption(new Option('--storage <storages...>', 'a custom scope: only these storages').choices(STORAGES))
    .option('--expires <moment>', 'ISO 8601 (default: never)')
    .action(async (name, { scope, permission, storage, expires, ...choice }) => {
      const wanted: KeyScope =
        permission === undefined && storage === undefined
          ? (scope ?? 'read-write')
          : { custom: permission ?? ['files:read', 'files:delete'], storages: storage ?? [...STORAGES] }
      const sandbox = await findSandbox(choice)
      if (isRehearsal(out, `make the key "${name}", ${describeScope(wanted)}`)) return
      const key = await sandbox.post<ApiKey>('/keys', { name, scope: wanted, expiresAt: expires ?? null })
      out.result(key, () => [key.key])
      out.note(`${key.id}, ${describeScope(key.scope)}. It is refused by everything that is not a sandbox.`)
    })
}
