import { UpshotError } from '../../core/errors.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { Access } from './account-clients.ts'
import type { EmbeddedSandbox } from './embedded-sandbox.ts'

/**
 * Access to the default account: the service that the environment names, or the sandbox, which must
 * have started.
 */
export function accessTo({ service }: Pick<Config, 'service'>, embedded: EmbeddedSandbox | null): Access {
  if (service.kind === 'real') return service
  if (embedded === null) throw new UpshotError('not_running', 'The app has not started.')
  const { sandbox, apiKey } = embedded
  return { baseUrl: sandbox.url, apiKey, fallbackKey: null, storages: {}, plan: 'enterprise' }
}
