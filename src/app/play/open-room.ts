import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import { Room, type RoomParts, type RoomSettings } from './room.ts'

/** By default the code, and the trust in its reads, are those of the project. */
interface Wanted
  extends Omit<RoomParts, 'settings' | 'store'>,
    Partial<Pick<RoomSettings, 'workflowsDir' | 'trustsReads'>> {
  /** How the service spells the storages of the default account. Default: as configured. */
  own?: StorageSpellings
}

/** The settings that a room needs. None is a secret. */
interface RoomConfig
  extends Pick<Config, 'workflowsDir' | 'guardPolicy' | 'trustsReads'>,
    Partial<Pick<Config, 'limits'>> {
  service?: { kind: 'sandbox' } | { kind: 'real'; storages: StorageSpellings }
}

/** Opens a room with the project's code, limits and names of storages. */
export async function openRoom(
  store: Pick<ReadStore, 'listDeletes' | 'listRunEvents' | 'readOutput' | 'listRuns' | 'listSteps' | 'listAccounts'>,
  config: RoomConfig,
  {
    workflowsDir = config.workflowsDir,
    trustsReads = config.trustsReads ?? false,
    own = spell(config),
    ...wanted
  }: Wanted,
): Promise<Room> {
  const named = (await store.listAccounts()).map(({ name, storages }) => [name, storages] as const)
  const spellings = { [DEFAULT_ACCOUNT]: own, ...Object.fromEntries(named) }
  const limits = config.limits && { maxSteps: config.limits.steps }
  const settings = { workflowsDir, trustsReads, guard: config.guardPolicy, ...limits, spellings }
  return Room.open({ settings, store, ...wanted })
}

function spell({ service }: Pick<RoomConfig, 'service'>): StorageSpellings {
  return service?.kind === 'real' ? service.storages : {}
}
