import { UpshotError } from '../../core/errors.ts'
import type { Config } from '../../project/config/load-config.ts'
import { readRuntimeFile } from '../../project/data-dir/runtime-file.ts'
import type { Access } from './account-clients.ts'
import type { EmbeddedSandbox } from './embedded-sandbox.ts'

/** Access to the default account: of the service in the environment, or of a started sandbox. */
export function accessTo({ service }: Pick<Config, 'service'>, embedded: EmbeddedSandbox | null): Access {
  if (service.kind === 'real') return service
  if (embedded === null) throw new UpshotError('not_running', 'The app has not started.')
  return accessToSandbox({ baseUrl: embedded.sandbox.url, apiKey: embedded.apiKey })
}

function accessToSandbox({ baseUrl, apiKey }: Pick<Access, 'baseUrl' | 'apiKey'>): Access {
  return { baseUrl, apiKey, fallbackKey: null, storages: {}, plan: 'enterprise' }
}

/**
 * The same for a process without the sandbox of its own: another one of this data directory may run
 * it. Throws `not_running` where none does.
 */
export function findAccess(
  config: Pick<Config, 'service' | 'dataDir'>,
  embedded: EmbeddedSandbox | null = null,
): Access {
  if (config.service.kind === 'real' || embedded !== null) return accessTo(config, embedded)
  const sandbox = readRuntimeFile(config.dataDir)?.sandbox
  if (sandbox) return accessToSandbox(sandbox)
  throw new UpshotError('not_running', 'No process of this data directory runs the sandbox.')
}
