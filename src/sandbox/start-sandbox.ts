import { randomWord } from '../core/ids.ts'
import type { StorageName } from '../core/service/storage.ts'
import type { ApiKeys } from './account/api-keys.ts'
import type { Audit } from './account/audit.ts'
import { apiServer } from './api-server.ts'
import type { Faults } from './faults/faults.ts'
import { downloadServer } from './files-api/download-server.ts'
import { type Listening, listenLocally, localHosts } from './http/listen.ts'
import type { SandboxOptions } from './options.ts'
import { catchUp, closeSandboxParts, openSandboxParts, type SandboxParts } from './service/sandbox-parts.ts'
import type { ResetOptions, Snapshots } from './service/snapshots.ts'
import type { SandboxClock } from './state/clock.ts'
import type { EventJournal } from './state/event-journal.ts'
import type { LiveSettings } from './state/live-settings.ts'
import type { Storage } from './storage/storage.ts'
import type { Transfers } from './transfers/transfers.ts'
import type { Deliveries } from './webhooks/deliveries.ts'
import type { ProbeReport } from './webhooks/probe-receiver.ts'
import type { Webhooks } from './webhooks/webhooks.ts'

/** A running stand-in of the service. */
export interface Sandbox extends AsyncDisposable {
  /** Base URL of the API, `/v1` included. */
  readonly url: string
  /** Origin of the API, the control API and the account page. */
  readonly origin: string
  /** Origin that download URLs lead to. */
  readonly downloadOrigin: string
  readonly clock: SandboxClock
  readonly settings: LiveSettings
  readonly keys: ApiKeys
  readonly webhooks: Webhooks
  readonly events: EventJournal
  readonly deliveries: Deliveries
  readonly transfers: Transfers
  readonly faults: Faults
  readonly audit: Audit
  readonly snapshots: Snapshots
  storage(name: StorageName): Storage
  /**
   * Sends the receiver of a webhook what it must accept and what it must refuse. Throws
   * `not_found`.
   */
  probe(webhookId: string): Promise<ProbeReport>
  /**
   * Everything as on the very first start. Directories that the sandbox did not make keep their
   * files.
   */
  reset(options?: ResetOptions): Promise<void>
  /** Loses nothing: the next start on the same directory goes on. May be called twice. */
  stop(): Promise<void>
}

/**
 * Starts the whole service on this machine: Files API, storages, transfers and webhooks, with its
 * state under `dir`. Throws `conflict` when a port is taken or another sandbox runs on `dir`.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const parts = openSandboxParts(options)
  try {
    await catchUp(parts)
    const servers = await listen(parts, options)
    parts.dispatcher.start()
    options.log?.({ msg: 'sandbox started', url: `${servers.origins().api}/v1` })
    return present(parts, servers)
  } catch (error) {
    await closeSandboxParts(parts)
    throw error
  }
}

interface Servers {
  origins(): { api: string; download: string }
  close(): Promise<void>
}

async function listen(parts: SandboxParts, options: SandboxOptions): Promise<Servers> {
  const downloadSecret = parts.saved.getOrMake('downloadSecret', randomWord)
  const listening: { api?: Listening; download?: Listening } = {}
  const hostsOf = (which: 'api' | 'download') => () => localHosts(listening[which]?.port ?? 0, options.hosts ?? [])
  const originOf = (which: 'api' | 'download') => `http://127.0.0.1:${listening[which]?.port ?? 0}`
  const origins = () => ({ api: originOf('api'), download: originOf('download') })
  const close = async () => {
    await Promise.all([listening.api?.close(), listening.download?.close()])
  }
  try {
    const api = apiServer({ parts, seed: options.seed ?? 1, downloadSecret, origins, hosts: hostsOf('api') })
    listening.api = await listenLocally(api, options.port ?? 0)
    const download = downloadServer({ ...parts, downloadSecret, hosts: hostsOf('download') })
    listening.download = await listenLocally(download, options.downloadPort ?? 0)
    return { origins, close }
  } catch (error) {
    await close()
    throw error
  }
}

function present(parts: SandboxParts, servers: Servers): Sandbox {
  const { clock, settings, keys, webhooks, events, deliveries, transfers, faults, audit, snapshots, storages, probe } =
    parts
  const { api: origin, download: downloadOrigin } = servers.origins()
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= servers.close().then(() => closeSandboxParts(parts))
    return stopped
  }
  return {
    ...{ clock, settings, keys, webhooks, events, deliveries, transfers, faults, audit, snapshots, probe },
    reset: (options) => snapshots.reset(options),
    ...{ url: `${origin}/v1`, origin, downloadOrigin, stop },
    storage: (name) => storages[name],
    [Symbol.asyncDispose]: stop,
  }
}
