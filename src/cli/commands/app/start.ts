import { type Command, Option } from '@commander-js/extra-typings'
import { serve } from '../../../app/serve.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { ROLES } from '../../../project/config/variables.ts'
import { loadProject } from '../../open/open-project.ts'
import type { Output } from '../../terminal/output.ts'

/**
 * `upshot start`: for production. Logs JSON, asks nothing, and works with the real service only.
 */
export function define(command: Command, out: Output): void {
  command
    .addOption(new Option('--role <role>', 'run one part of the app beside others (default: all)').choices(ROLES))
    .action(async ({ role }) => {
      const config = await loadProject(role === undefined ? {} : { UPSHOT_ROLE: { flag: '--role', value: role } })
      requireRealService(config)
      const { ended } = await serve(config, { log: 'json' })
      await ended
      out.detail('It has ended in order.')
    })
}

/**
 * What runs in production by mistake with a sandbox would acknowledge deliveries and follow them up
 * nowhere.
 */
function requireRealService({ service }: Config): void {
  if (service.kind === 'sandbox') {
    throw new UpshotError('invalid_config', 'No service is configured, and "upshot start" starts no sandbox.', {
      details: { fix: 'Set the SERVICE_ variables (see "upshot doctor"), or work with the sandbox: upshot dev.' },
    })
  }
  if (service.apiKey.startsWith('sk_sandbox_')) {
    throw new UpshotError('invalid_config', 'SERVICE_API_KEY is a key of the sandbox, which is not for production.', {
      details: { fix: 'Set SERVICE_API_KEY to a key of the real service, or work with the sandbox: upshot dev.' },
    })
  }
}
