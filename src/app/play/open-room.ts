import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { ReadFiles } from './planned-files.ts'
import { Room } from './room.ts'

interface Wanted {
  /** How the service spells the storages of the default account. Default: as configured. */
  own?: StorageSpellings
  /** Longest time without an answer before the room counts as hanging. Default 30 s. */
  patienceMs?: number
  /** Gets what the author's code prints. */
  onPrint: (text: string) => void
  /** Reads the service for plans. Default: no play may. */
  readFiles?: ReadFiles
  /** The folder of the code to play. Default: that of the project. */
  workflowsDir?: string
  /** Whether the lines that run are noted. Default false. */
  notesLines?: boolean
  /** Whether steps that read may send what cannot be judged. Default false. */
  trustsReads?: boolean
  /** It plays beside live work. Default false. */
  isAside?: boolean
  /** Ends it, also while its code is loaded. */
  signal?: AbortSignal
}

/** The settings that a room needs. None is a secret. */
export interface RoomConfig
  extends Pick<Config, 'workflowsDir' | 'guardPolicy' | 'trustsReads'>,
    Partial<Pick<Config, 'limits'>> {
  service: { kind: 'sandbox' } | { kind: 'real'; storages: StorageSpellings }
}

/** Those settings alone, to be handed to another process. */
export function roomConfig({
  workflowsDir,
  guardPolicy,
  limits,
  trustsReads = false,
  service,
}: RoomConfig): RoomConfig {
  const { kind } = service
  const named = kind === 'real' ? { kind, storages: service.storages } : { kind }
  return { workflowsDir, guardPolicy, ...(limits && { limits }), trustsReads, service: named }
}

/** Opens a room with the project's code, limits and names of storages. */
export async function openRoom(
  store: Pick<ReadStore, 'listDeletes' | 'listRunEvents' | 'readOutput' | 'listRuns' | 'listSteps' | 'listAccounts'>,
  config: Pick<RoomConfig, 'workflowsDir' | 'guardPolicy' | 'trustsReads'> &
    Partial<Pick<RoomConfig, 'service' | 'limits'>>,
  {
    workflowsDir = config.workflowsDir,
    notesLines = false,
    trustsReads = config.trustsReads ?? false,
    own = spell(config),
    ...wanted
  }: Wanted,
): Promise<Room> {
  const named = (await store.listAccounts()).map(({ name, storages }) => [name, storages] as const)
  const spellings = { [DEFAULT_ACCOUNT]: own, ...Object.fromEntries(named) }
  const limits = config.limits && { maxSteps: config.limits.steps }
  const settings = { workflowsDir, notesLines, trustsReads, guard: config.guardPolicy, ...limits, spellings }
  return Room.open({ settings, store, ...wanted })
}

function spell({ service }: Partial<Pick<RoomConfig, 'service'>>): StorageSpellings {
  return service?.kind === 'real' ? service.storages : {}
}
