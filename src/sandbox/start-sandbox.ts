import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UpshotError } from '../core/errors.ts'
import { randomWord } from '../core/ids.ts'
import type { StorageName } from '../core/service/storage.ts'
import type { ApiKeys } from './account/api-keys.ts'
import type { Audit } from './account/audit.ts'
import type { Faults } from './faults/faults.ts'
import { lateApp } from './http/guards.ts'
import type { SandboxOptions } from './options.ts'
import { catchUp, closeSandboxParts, openSandboxParts, type SandboxParts } from './service/sandbox-parts.ts'
import type { ResetOptions, Snapshots } from './service/snapshots.ts'
import type { SandboxClock } from './state/clock.ts'
import type { EventJournal } from './state/event-journal.ts'
import type { LiveSettings } from './state/settings.ts'
import type { Storage } from './storage/storage.ts'
import type { Transfers } from './transfers/transfers.ts'
import type { Deliveries } from './webhooks/deliveries.ts'
import type { ProbeReport } from './webhooks/probe-receiver.ts'
import type { Webhooks } from './webhooks/webhooks.ts'

// Imported, this module would load all of undici. See decision 67.
const { createServer } = process.getBuiltinModule('node:http')

/** A running sandbox. */
export interface Sandbox extends AsyncDisposable {
  /** Base URL of the API, `/v1` included. */
  readonly url: string
  /** Origin of the API, the control API and the account pages. */
  readonly origin: string
  /** Origin of download URLs. */
  readonly downloadOrigin: string
  /** The time of the sandbox: read it, advance it. */
  readonly clock: SandboxClock
  /** Settings that can change while the sandbox runs. */
  readonly settings: LiveSettings
  /** API keys of the account. */
  readonly keys: ApiKeys
  /** Webhooks of the account. */
  readonly webhooks: Webhooks
  /** Events of the account; also emits custom ones. */
  readonly events: EventJournal
  /** The delivery log: list, await, resend, backfill. */
  readonly deliveries: Deliveries
  /** Copies between storages. */
  readonly transfers: Transfers
  /** Errors on purpose, of replies and deliveries. */
  readonly faults: Faults
  /** Requests of clients, and the rules that they violated. */
  readonly audit: Audit
  /** Saved states to return to. */
  readonly snapshots: Snapshots
  /** One of the three storages. */
  storage(name: StorageName): Storage
  /** Sends a webhook's receiver deliveries that it must accept or refuse. Throws `not_found`. */
  probe(webhookId: string): Promise<ProbeReport>
  /**
   * Resets everything to the very first start. Folders that the sandbox did not make keep their
   * files.
   */
  reset(options?: ResetOptions): Promise<void>
  /** Stops the sandbox and keeps its state for the next start. May be called twice. */
  stop(): Promise<void>
}

/**
 * Starts the whole service on this machine, with its state under `dir`. Throws `conflict` if a port
 * or `dir` is in use.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const parts = openSandboxParts(options)
  try {
    await catchUp(parts)
    const servers = await openServers(parts, options)
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

async function openServers(parts: SandboxParts, options: SandboxOptions): Promise<Servers> {
  const downloadSecret = parts.saved.getOrMake('downloadSecret', randomWord)
  const listening: { api?: Listening; download?: Listening } = {}
  const { host = '127.0.0.1', hosts = [] } = options
  const addressOf = (which: 'api' | 'download') => `${nameOf(host)}:${listening[which]?.port ?? 0}`
  const hostsOf = (which: 'api' | 'download') => () =>
    localHosts(listening[which]?.port ?? 0, [addressOf(which), ...hosts])
  const originOf = (which: 'api' | 'download') => `http://${addressOf(which)}`
  const origins = () => ({ api: originOf('api'), download: originOf('download') })
  const close = async () => {
    await Promise.all([listening.api?.close(), listening.download?.close()])
  }
  try {
    const given = { parts, seed: options.seed ?? 1, downloadSecret, origins, hosts: hostsOf('api') }
    const api = lateApp(async () => (await import('./api-server.ts')).apiServer(given))
    listening.api = await listen(api, options.port ?? 0, host)
    const files = { ...parts, downloadSecret, hosts: hostsOf('download') }
    const download = lateApp(async () => (await import('./files-api/download-server.ts')).downloadServer(files))
    listening.download = await listen(download, options.downloadPort ?? 0, host)
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
    clock,
    settings,
    keys,
    webhooks,
    events,
    deliveries,
    transfers,
    faults,
    audit,
    snapshots,
    probe,
    reset: (options) => snapshots.reset(options),
    url: `${origin}/v1`,
    origin,
    downloadOrigin,
    stop,
    storage: (name) => storages[name],
    [Symbol.asyncDispose]: stop,
  }
}

interface Listening {
  port: number
  /** Stops listening and closes every open connection. */
  close(): Promise<void>
}

/** Listens on a host; port 0 picks a free one. Throws `conflict` if the port is taken. */
async function listen(handler: RequestListener, port: number, host: string): Promise<Listening> {
  const server = createServer(handler)
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new UpshotError('conflict', `Port ${port} is taken or not allowed.`, {
      cause,
      details: { fix: 'Choose another port, or 0 for a free one.' },
    })
  }
  const address = server.address() as AddressInfo
  return { port: address.port, close: () => closeServer(server) }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}

/** The host that URLs name: of a server that listens on every address, this machine. */
export function nameOf(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
}

/** `Host` values for this machine's own address, and the configured ones. */
function localHosts(port: number, more: readonly string[]): string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, ...more]
}
