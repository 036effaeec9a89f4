import type { Command } from '@commander-js/extra-typings'
import type { AppUrls } from '../../../app/app-urls.ts'
import { serve } from '../../../app/serve.ts'
import { processEnvironment } from '../../../project/config/environment.ts'
import type { Cli } from '../../command.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--real', 'use the real service, as set by the SERVICE_ variables, instead of the sandbox')
    .option('--port <port>', 'port of the receiver; 0 for any free one (default: 4700)')
    .action(async ({ real = false, port }) => {
      const flags = port === undefined ? {} : { UPSHOT_PORT: { flag: '--port', value: port } }
      const config = { ...(await project.load(flags, { isSandbox: !real })), dev: true }
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
    ['health', `${admin}/readyz`],
    ['account', sandbox === undefined ? undefined : `${sandbox}/account`],
    ['storages', storages],
  ]
  return lines.flatMap(([name, url]) => (url === undefined ? [] : `  ${name.padEnd(18)} ${url}`)).join('\n')
}
