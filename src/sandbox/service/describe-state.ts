import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import type { Settings } from '../state/settings.ts'
import type { DeliveryState } from '../webhooks/delivery.ts'
import type { SandboxParts } from './sandbox-parts.ts'

/** The contents and the activity of a sandbox, in numbers. */
export interface SandboxState {
  /** Base URL of the API, `/v1` included. */
  url: string
  /** Origin of download URLs. */
  downloadOrigin: string
  /** Time of the sandbox, ISO 8601. */
  now: string
  clock: 'real' | 'manual'
  settings: Settings
  storages: { name: StorageName; dir: string; files: number; bytes: number }[]
  /** Keys that are not revoked. */
  keys: number
  webhooks: number
  faults: number
  /** Transfers that have not ended. */
  transfers: number
  deliveries: Record<DeliveryState, number>
}

/** Reads everything in one turn of the event loop, so that the numbers match. */
export function describeState(parts: SandboxParts, origins: { api: string; download: string }): SandboxState {
  const { clock, settings, index, storages, keys, webhooks, faults, transfers, deliveries } = parts
  const count = (state: DeliveryState) => deliveries.count({ state })
  return {
    url: `${origins.api}/v1`,
    downloadOrigin: origins.download,
    now: isoTime(clock.now()),
    clock: clock.mode,
    settings: settings.get(),
    storages: STORAGES.map((name) => ({ name, dir: storages[name].dir, ...index.measure(name) })),
    keys: keys.list().filter(({ revokedAt }) => revokedAt === null).length,
    webhooks: webhooks.list().length,
    faults: faults.list().length,
    transfers: transfers.countOpen(),
    deliveries: {
      pending: count('pending'),
      sending: count('sending'),
      delivered: count('delivered'),
      failed: count('failed'),
    },
  }
}
