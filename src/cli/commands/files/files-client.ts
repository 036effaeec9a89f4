import { posix } from 'node:path'
import { UpshotError } from '../../../core/errors.ts'
import { burstOf, DEFAULT_ACCOUNT } from '../../../core/service/account.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import { findStorage, STORAGES, type StorageName } from '../../../core/service/storage.ts'
import type { Store } from '../../../core/store/store.ts'
import type { FilesClient, FilesClientOptions, IncompleteReason } from '../../../files/index.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { commandClock, followDatabase } from '../../open/command-clock.ts'
import { findRunningApp } from '../../open/running-app.ts'

/**
 * A client of the configured service: the real one, or the running app's sandbox. It shares the
 * app's rate limit through the database, unless `isAlone`.
 */
export async function openFiles(config: Config, { isAlone = false } = {}): Promise<FilesClient> {
  if (!isAlone) return openFilesAndStore(config)
  const { createFilesClient } = await import('../../../files/index.ts')
  return createFilesClient({ ...(await findAccess(config)), ...OPTIONS })
}

const OPTIONS = { priority: 'interactive', retry: { maxWait: '10s' } } as const

/** Such a client, with the store of the project. Both close together. */
export async function openFilesAndStore(config: Config): Promise<FilesClient & { store: Store }> {
  const access = await findAccess(config)
  const { createFilesClient } = await import('../../../files/index.ts')
  const { storedLimits } = await import('../../../files/limit/stored-limits.ts')
  const { openStore } = await import('../../../project/data-dir/open-store.ts')
  const store = await openStore(config)
  try {
    // The limit counts by the clock that all processes share.
    await followDatabase(store)
  } catch (error) {
    await store.close()
    throw error
  }
  const files = createFilesClient({ ...access, ...OPTIONS, clock: commandClock, limiter: storedLimits(store) })
  return Object.assign(files, {
    store,
    [Symbol.asyncDispose]: () => files.stop().finally(() => store.close()),
  })
}

async function findAccess(config: Config): Promise<Omit<FilesClientOptions, 'limiter'>> {
  const { service } = config
  if (service.kind === 'real') {
    const { baseUrl, apiKey, fallbackKey, storages, plan } = service
    const burst = burstOf(config.files.burst, DEFAULT_ACCOUNT)
    const limit = { plan, ...(burst === null ? {} : { burst }) }
    return { baseUrl, apiKey, ...(fallbackKey === null ? {} : { fallbackKey }), services: storages, ...limit }
  }
  const sandbox = (await findRunningApp(config))?.sandbox
  if (sandbox) return { baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey, plan: 'enterprise' }
  throw new UpshotError('not_running', `No sandbox is running on the data directory ${config.dataDir}.`, {
    fix: 'Start the app with "npm start", or set the SERVICE_ variables to use the real service.',
  })
}

/** A folder of a storage, such as `storage_a:/reports`. */
export interface Place {
  service: StorageName
  path: string
}

/** Reads `<service:/path>`, by our name of the storage or the service's. Default path `/`. */
export function parsePlace(text: string, { service }: Pick<Config, 'service'>): Place {
  const [, name = '', path = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? []
  const wire = service.kind === 'real' ? service.storages : {}
  const storage = findStorage(name, wire)
  if (storage !== null) return { service: storage, path: path === '' ? '/' : path }
  throw new UpshotError('invalid_request', `"${text}" names no storage.`, {
    fix: `Write <service:/path> with one of ${STORAGES.join(', ')}, such as ${STORAGES[0]}:/reports.`,
  })
}

const WHY = {
  max: 'there are more entries than one listing may hold',
  unverified: 'its pages were read only once',
  changed: 'entries came or went while it was read',
  totals: 'the service counts other entries than it lists',
  repeated: 'the service sent the same page twice',
} as const satisfies Record<IncompleteReason, string>

/** A sentence for people about a listing that may lack entries. */
export function describeIncomplete(reason: IncompleteReason): string {
  return `The listing may lack entries: ${WHY[reason]}.`
}

/** An entry of a storage, by id or by path. */
type FileTarget = { service: StorageName } & ({ id: string } | { path: string })

/** Reads `<service:id>` or `<service:/path>`. A path begins with a slash. */
export function parseTarget(text: string, config: Pick<Config, 'service'>): FileTarget {
  const { service, path } = parsePlace(text, config)
  if (path === '/') {
    throw new UpshotError('invalid_request', `"${text}" names a whole storage, not an entry.`, {
      fix: 'Write <service:/path> or <service:id>, such as storage_a:/reports/june.pdf.',
    })
  }
  return path.startsWith('/') ? { service, path: posix.normalize(path).replace(/\/$/, '') } : { service, id: path }
}

/** The entry as it is now. Throws `not_found` or an error of the client. */
export async function findEntry(files: FilesClient, target: FileTarget, signal: AbortSignal): Promise<FileEntry> {
  if ('id' in target) return files.get(target, { signal })
  const { service, path } = target
  const entry = await files.find({ service, path }, { signal })
  if (entry) return entry
  throw new UpshotError('not_found', `There is nothing at ${service}:${path}.`, {
    fix: `List the parent folder: upshot files ls ${service}:${posix.dirname(path)}`,
  })
}
