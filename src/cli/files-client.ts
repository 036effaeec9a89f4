import type { Config } from '../config.ts'
import { UpshotError } from '../core/errors.ts'
import { STORAGES, type StorageName } from '../core/file.ts'
import type { FilesClient } from '../files/index.ts'
import { findRunningApp } from './running-app.ts'

/** A client of the service that the configuration names: the real one, or the sandbox of the running app. */
export async function openFiles(config: Config): Promise<FilesClient> {
  const { createFilesClient } = await import('../files/index.ts')
  const { service } = config
  const options = { priority: 'interactive', retry: { maxWait: '10s' } } as const
  if (service.kind === 'real') {
    const { baseUrl, apiKey, storages, plan } = service
    return createFilesClient({ ...options, baseUrl, apiKey, services: storages, plan })
  }
  const sandbox = (await findRunningApp(config))?.sandbox
  if (sandbox)
    return createFilesClient({ ...options, baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey, plan: 'enterprise' })
  throw new UpshotError('not_running', `No sandbox runs on the data directory ${config.dataDir}.`, {
    details: { fix: 'Start it with "npm start", or set SERVICE_BASE_URL and SERVICE_API_KEY for the real service.' },
  })
}

/** A folder of a storage, as in `storage_a:/reports`. */
export interface Place {
  service: StorageName
  path: string
}

/** Reads `<service:/path>`; the service as we write it or as the real one does, the path `/` when it is left out. */
export function parsePlace(text: string, { service }: Pick<Config, 'service'>): Place {
  const [, name = '', path = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? []
  const wire = service.kind === 'real' ? service.storages : null
  const storage = STORAGES.find((known) => isSameName(known, name) || (wire !== null && isSameName(wire[known], name)))
  if (storage !== undefined) return { service: storage, path: path === '' ? '/' : path }
  throw new UpshotError('invalid_request', `"${text}" names no storage.`, {
    details: { fix: `Write <service:/path> with one of ${STORAGES.join(', ')}, such as ${STORAGES[0]}:/reports.` },
  })
}

/** The service's documents write one storage's name in several ways. */
function isSameName(a: string, b: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/[-_ ]/g, '')
  return plain(a) === plain(b)
}
