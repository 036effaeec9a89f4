import { Option } from '@commander-js/extra-typings'
import { resolveAmong } from '../../../admin/queries/resolve-id.ts'
import { UpshotError } from '../../../core/errors.ts'
import { STORAGES } from '../../../core/service/storage.ts'
import type { ApiKey, KeyScope, Permission } from '../../../sandbox/index.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import type { Column } from '../../terminal/table.ts'
import { atSandbox, doConfirmed, isRehearsal, sandboxCommand, showRows } from './sandbox-command.ts'

const PERMISSIONS = ['files:read', 'files:delete', 'account:read', 'account:write'] as const satisfies Permission[]

export const make = sandboxCommand(
  (command) =>
    command
      .argument('[name]', 'name of the key', 'made on the command line')
      .addOption(
        new Option('--scope <scope>', 'scope of the key (default: read-write)')
          .choices(['read-only', 'read-write', 'admin'])
          .conflicts('permission'),
      )
      .addOption(
        new Option('--permission <permissions...>', 'custom scope: only these permissions').choices(PERMISSIONS),
      )
      .addOption(new Option('--storage <storages...>', 'custom scope: only these storages').choices(STORAGES))
      .option('--expires <moment>', 'time of expiry in ISO 8601 (default: never)'),
  async ({ out, sandbox }, { scope, permission, storage, expires }, name) => {
    const wanted: KeyScope =
      permission === undefined && storage === undefined
        ? (scope ?? 'read-write')
        : { custom: permission ?? ['files:read', 'files:delete'], storages: storage ?? [...STORAGES] }
    if (isRehearsal(out, `create the key "${name}", ${describeScope(wanted)}`)) return
    const key = await sandbox.post<ApiKey>('/keys', { name, scope: wanted, expiresAt: expires ?? null })
    out.result(key, () => [key.key])
    out.note(`${key.id}, ${describeScope(key.scope)}. It works with sandboxes only.`)
  },
)

export const list = atSandbox(async ({ out, sandbox }) => {
  const keys = (await sandbox.get<ApiKey[]>('/keys')).map(({ key, ...rest }) => ({ ...rest, ending: key.slice(-4) }))
  showRows(out, keys, LIST_COLUMNS, 'No API key yet. Create one with "upshot sandbox key new".')
})

type KeyView = Omit<ApiKey, 'key'> & { ending: string }

const LIST_COLUMNS: Column<KeyView>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, most: 40 },
  { title: 'SCOPE', value: ({ scope }) => describeScope(scope), most: 60 },
  { title: 'KEY', value: ({ ending }) => `…${ending}` },
  { title: 'LAST USED', value: ({ lastUsedAt }) => formatMoment(lastUsedAt) },
  { title: 'REVOKED', value: ({ revokedAt }) => formatMoment(revokedAt) },
]

export const revoke = sandboxCommand(
  (command) => command.argument('<id>', 'id of the key, key_…, or its beginning, from "upshot sandbox key list"'),
  async ({ out, sandbox }, _, given) => {
    const found = resolveAmong(given, await sandbox.get<ApiKey[]>('/keys'))
    if (found === null)
      throw new UpshotError('not_found', `There is no key ${given}.`, {
        fix: 'List the keys with "upshot sandbox key list".',
      })
    const { id, name, key } = found
    await doConfirmed(out, {
      will: `revoke the key "${name}" (…${key.slice(-4)}) for good`,
      act: () => sandbox.delete(`/keys/${encodeURIComponent(id)}`),
      data: { id, name },
      is: 'revoked',
      done: `Revoked the key "${name}".`,
    })
  },
)

/** A scope in words, such as `read-only`. */
function describeScope(scope: KeyScope): string {
  if (typeof scope === 'string') return scope
  return `${scope.custom.join(', ') || 'nothing'} on ${scope.storages.join(', ') || 'no storage'}`
}

export { make as new }
