import { type Command, Option } from '@commander-js/extra-typings'
import type { AppUrls } from '../../../app/app-urls.ts'
import { serve } from '../../../app/serve.ts'
import { UpshotError } from '../../../core/errors.ts'
import { processEnvironment } from '../../../project/config/environment.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { ROLES } from '../../../project/config/variables.ts'
import type { Cli } from '../../command.ts'

/** `upshot start`: the app in production. */
export function start(command: Command, { out, project }: Cli): void {
  command
    .addOption(
      new Option('--role <role>', 'run only one part of the app in this process (default: all)').choices(ROLES),
    )
    .option('--pretty', 'log lines for people instead of JSON')
    .option('--rehearse', 'accept the key of a sandbox that runs alone on this machine')
    .action(async ({ role, pretty = false, rehearse = false }) => {
      const flags = role === undefined ? {} : { UPSHOT_ROLE: { flag: '--role', value: role } }
      const config = await project.load(flags, { isApp: true })
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

/** `upshot dev`: the app with a sandbox of the service. */
export function dev(command: Command, { out, project }: Cli): void {
  command
    .option('--real', 'use the real service, as set by the SERVICE_ variables, instead of the sandbox')
    .option('--port <port>', 'port of the receiver; 0 for any free one (default: 4700)')
    .action(async ({ real = false, port }) => {
      const flags = port === undefined ? {} : { UPSHOT_PORT: { flag: '--port', value: port } }
      const config = { ...(await project.load(flags, { isSandbox: !real, isApp: true })), dev: true }
      if (!real && processEnvironment().SERVICE_BASE_URL) {
        out.note('SERVICE_BASE_URL is set but not used: dev uses the sandbox. Add --real to use the real service.')
      }
      const isPretty = out.isWatched
      const served = await serve(config, { log: isPretty ? 'pretty' : 'json', colour: out.paint('bold', 'x') !== 'x' })
      if (isPretty) out.note(describeUrls(served.urls))
      await served.ended
    })
}

function describeUrls({ receiver, admin, endpoints, sandbox, storages }: AppUrls): string {
  const lines: [string, string | undefined][] = [
    ['receiver', receiver],
    ...Object.entries(endpoints).map(([name, url]): [string, string] => [`endpoint ${name}`, url]),
    ['dashboard', 'upshot dashboard'],
    ['health', `${admin}/readyz`],
    ['sandbox account', sandbox === undefined ? undefined : `${sandbox}/account`],
    ['storages', storages],
  ]
  return lines.flatMap(([name, url]) => (url === undefined ? [] : `  ${name.padEnd(18)} ${url}`)).join('\n')
}
