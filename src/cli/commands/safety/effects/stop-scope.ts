import { type Command, Option } from '@commander-js/extra-typings'
import type { StopScope } from '../../../../core/safety/stop.ts'
import { STORAGES, type StorageName } from '../../../../core/service/storage.ts'

/** Options that narrow a stop; one of them at most. */
interface ScopeChoice {
  workflow?: string | undefined
  account?: string | undefined
  storage?: StorageName | undefined
}

/** Adds the options that narrow a stop. */
export function addScope(command: Command) {
  return command
    .addOption(new Option('--workflow <id>', 'only the effects of this workflow').conflicts(['account', 'storage']))
    .addOption(new Option('--account <name>', 'only the effects on this account').conflicts('storage'))
    .addOption(new Option('--storage <name>', 'only the effects on this storage').choices(STORAGES))
}

/** The scope that the options choose; everything without any. */
export function toScope({ workflow, account, storage }: ScopeChoice): StopScope {
  if (workflow !== undefined) return { kind: 'workflow', name: workflow }
  if (account !== undefined) return { kind: 'account', name: account }
  return storage === undefined ? { kind: 'all', name: '' } : { kind: 'storage', name: storage }
}
