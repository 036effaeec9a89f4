import { dirname } from 'node:path'
import type { Store } from '../core/store/store.ts'
import { isoTime } from '../core/time.ts'
import type { Runtime } from '../project/data-dir/runtime-file.ts'
import type { EmbeddedSandbox } from './service/embedded-sandbox.ts'

export interface AppUrls {
  /** Empty in a process without a receiver. */
  receiver: string
  admin: string
  /** Full URLs that deliveries are sent to, by the endpoint's name. */
  endpoints: Record<string, string>
  /** The account page of the sandbox in this process. */
  sandbox?: string
  /** Folder of that sandbox's storages. */
  storages?: string
}

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

/** The addresses by name, for the log line `started`. */
export function listUrls({ receiver, admin, endpoints, sandbox, storages }: AppUrls): Record<string, string> {
  return {
    ...(receiver === '' ? {} : { receiver }),
    ...Object.fromEntries(Object.entries(endpoints).map(([name, url]) => [`endpoint ${name}`, url])),
    admin,
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(storages === undefined ? {} : { storages }),
  }
}

/** The facts that the command line finds an app by. */
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
