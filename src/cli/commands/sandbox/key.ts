import { type Command, Option } from '@commander-js/extra-typings'
import { resolveAmong } from '../../../admin/queries/resolve-id.ts'
import { UpshotError } from '../../../core/errors.ts'
import { STORAGES } from '../../../core/service/storage.ts'
import { systemClock } from '../../../core/time.ts'
import type { ApiKey, KeyScope, Permission } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { confirm } from '../../terminal/confirm.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { atSandbox, findSandbox, isRehearsal } from './sandbox-control.ts'

const PERMISSIONS = ['files:read', 'files:delete', 'account:read', 'account:write'] as const satisfies Permission[]

export function make(command: Command, { out, project }: Cli): void {
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

export function list(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const keys = (await sandbox.get<ApiKey[]>('/keys')).map(({ key, ...rest }) => ({ ...rest, ending: key.slice(-4) }))
    out.result(keys, () => formatTable(keys, listColumns(systemClock.now()), out))
    if (keys.length === 0) out.note('No API key yet. Create one with "upshot sandbox key new".')
  })
}

type KeyView = Omit<ApiKey, 'key'> & { ending: string }

function listColumns(now: number): Column<KeyView>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name, most: 40 },
    { title: 'SCOPE', value: ({ scope }) => describeScope(scope), most: 60 },
    { title: 'KEY', value: ({ ending }) => `…${ending}` },
    { title: 'LAST USED', value: ({ lastUsedAt }) => formatMoment(lastUsedAt, now) },
    { title: 'REVOKED', value: ({ revokedAt }) => formatMoment(revokedAt, now) },
  ]
}

export function revoke(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<id>', 'id of the key, key_…, or its beginning, from "upshot sandbox key list"')
    .action(async (given, choice) => {
      const sandbox = await findSandbox(project, choice)
      const key = resolveAmong(given, await sandbox.get<ApiKey[]>('/keys'))
      if (key === null)
        throw new UpshotError('not_found', `There is no key ${given}.`, {
          fix: 'List the keys with "upshot sandbox key list".',
        })
      const isConfirmed = await confirm(out, { will: `revoke the key "${key.name}" (…${key.key.slice(-4)}) for good` })
      if (isConfirmed) await sandbox.delete(`/keys/${encodeURIComponent(key.id)}`)
      out.result({ id: key.id, name: key.name, revoked: isConfirmed }, () => [
        isConfirmed ? `Revoked the key "${key.name}".` : 'Nothing was revoked.',
      ])
    })
}

/** A scope in words, such as `read-only`. */
function describeScope(scope: KeyScope): string {
  if (typeof scope === 'string') return scope
  return `${scope.custom.join(', ') || 'nothing'} on ${scope.storages.join(', ') || 'no storage'}`
}

export { make as new }
