import { dirname } from 'node:path'
import type { Store } from '../core/store/store.ts'
import { isoTime } from '../core/time.ts'
import type { Runtime } from '../project/data-dir/runtime-file.ts'
import type { EmbeddedSandbox } from './embedded-sandbox.ts'

/** Where a running app is reached. */
export interface AppUrls {
  /** Empty where this process has no receiver. */
  receiver: string
  admin: string
  /** Full addresses that deliveries are sent to, by the endpoint's name. */
  endpoints: Record<string, string>
  /**
   * The sandbox's account page, and the folder of its storages, when the sandbox runs in this
   * process.
   */
  sandbox?: string
  storages?: string
}

/** The addresses of an app that has just started. */
export async function describeUrls(
  store: Store,
  at: { receiverUrl: string; adminUrl: string; embedded: EmbeddedSandbox | null; publicUrl: string | null },
): Promise<AppUrls> {
  const reachable = at.receiverUrl === '' ? [] : await store.listEndpoints()
  const endpoints = reachable.map((endpoint) => [
    endpoint.name,
    `${at.publicUrl ?? at.receiverUrl}/hooks/${endpoint.path}`,
  ])
  return {
    receiver: at.receiverUrl,
    admin: at.adminUrl,
    endpoints: Object.fromEntries(endpoints),
    ...(at.embedded
      ? { sandbox: at.embedded.sandbox.origin, storages: dirname(at.embedded.sandbox.storage('storage_a').dir) }
      : {}),
  }
}

/** The same by name, for the line that a start leaves in the log. */
export function listUrls({ receiver, admin, endpoints, sandbox, storages }: AppUrls): Record<string, string> {
  return {
    ...(receiver === '' ? {} : { receiver }),
    ...Object.fromEntries(Object.entries(endpoints).map(([name, url]) => [`endpoint ${name}`, url])),
    admin,
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(storages === undefined ? {} : { storages }),
  }
}

/** What the command line finds an app by. */
export function describeRuntime({ receiver, admin }: AppUrls, embedded: EmbeddedSandbox | null, now: number): Runtime {
  return {
    pid: process.pid,
    startedAt: isoTime(now),
    receiver,
    admin,
    sandbox: embedded && {
      baseUrl: embedded.sandbox.url,
      origin: embedded.sandbox.origin,
      apiKey: embedded.apiKey,
    },
  }
}
