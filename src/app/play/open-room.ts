import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { ReadFiles } from './planned-files.ts'
import { Room } from './room.ts'

interface Wanted {
  /** Gets what the author's code prints. */
  onPrint: (text: string) => void
  /** Reads the service for plans. Default: no play may. */
  readFiles?: ReadFiles
  /** The folder of the code to play. Default: that of the project. */
  workflowsDir?: string
  /** Whether the lines that run are noted. Default false. */
  notesLines?: boolean
  /** It plays beside live work. Default false. */
  isAside?: boolean
  /** Ends it, also while its code is loaded. */
  signal?: AbortSignal
}

/** The settings that a room needs. None is a secret. */
export interface RoomConfig extends Pick<Config, 'workflowsDir' | 'guardPolicy'> {
  service: { kind: 'sandbox' } | { kind: 'real'; storages: StorageSpellings }
}

/** Those settings alone, to be handed to another process. */
export function roomConfig({ workflowsDir, guardPolicy, service }: RoomConfig): RoomConfig {
  const { kind } = service
  return { workflowsDir, guardPolicy, service: kind === 'real' ? { kind, storages: service.storages } : { kind } }
}

/** Opens a room with the project's code, limits and names of storages. */
export async function openRoom(
  store: Pick<ReadStore, 'listDeletes' | 'listRunEvents' | 'readOutput' | 'listRuns' | 'listSteps' | 'listAccounts'>,
  config: RoomConfig,
  { workflowsDir = config.workflowsDir, notesLines = false, ...wanted }: Wanted,
): Promise<Room> {
  const own: StorageSpellings = config.service.kind === 'real' ? config.service.storages : {}
  const named = (await store.listAccounts()).map(({ name, storages }) => [name, storages] as const)
  const spellings = { [DEFAULT_ACCOUNT]: own, ...Object.fromEntries(named) }
  return Room.open({ settings: { workflowsDir, notesLines, guard: config.guardPolicy, spellings }, store, ...wanted })
}
