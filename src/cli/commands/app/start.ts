import { type Command, Option } from '@commander-js/extra-typings'
import { serve } from '../../../app/serve.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { ROLES } from '../../../project/config/variables.ts'
import type { Cli } from '../../command.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .addOption(
      new Option('--role <role>', 'run only one part of the app in this process (default: all)').choices(ROLES),
    )
    .option('--pretty', 'log lines for people instead of JSON')
    .option('--rehearse', 'accept the key of a sandbox that runs alone on this machine')
    .action(async ({ role, pretty = false, rehearse = false }) => {
      const config = await project.load(role === undefined ? {} : { UPSHOT_ROLE: { flag: '--role', value: role } })
      requireRealService(config, rehearse)
      const { ended } = await serve(config, { log: pretty ? 'pretty' : 'json', colour: out.paint('bold', 'x') !== 'x' })
      await ended
      out.detail('The app has stopped in order.')
    })
}

/** Refuses a sandbox: in production its workflows would change nothing at the real service. */
function requireRealService({ service }: Config, isRehearsal: boolean): void {
  if (service.kind === 'sandbox') {
    throw new UpshotError('invalid_config', 'No service is configured, and "upshot start" starts no sandbox.', {
      fix: 'Set the SERVICE_ variables and check them with "upshot doctor", or use the sandbox: upshot dev.',
    })
  }
  // Such a key is accepted against a loopback address only; see `decideKeyFault`.
  if (service.apiKey.startsWith('sk_sandbox_') && !isRehearsal) {
    throw new UpshotError(
      'invalid_config',
      'SERVICE_API_KEY is a key of the sandbox, which must not be used in production.',
      {
        fix: 'Set SERVICE_API_KEY to a key of the real service, or rehearse with it: upshot start --rehearse.',
      },
    )
  }
}
