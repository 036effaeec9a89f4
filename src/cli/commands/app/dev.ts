import type { Command } from '@commander-js/extra-typings'
import { serve } from '../../../app/serve.ts'
import { processEnvironment } from '../../../project/config/environment.ts'
import type { Cli } from '../../command.ts'
import { canAsk } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { describeUrls, devKeys, listenForHotKeys } from './dev-keys.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--real', 'use the real service, as set by the SERVICE_ variables, instead of the sandbox')
    .option('--port <port>', 'port of the receiver; 0 for any free one (default: 4700)')
    .action(async ({ real = false, port }) => {
      const flags = port === undefined ? {} : { UPSHOT_PORT: { flag: '--port', value: port } }
      const config = { ...(await project.load(flags, { isSandbox: !real })), dev: true }
      const environment = processEnvironment()
      if (!real && environment.SERVICE_BASE_URL) {
        out.note('SERVICE_BASE_URL is set but not used: dev uses the sandbox. Add --real to use the real service.')
      }
      const isPretty = out.isWatched
      const served = await serve(config, { log: isPretty ? 'pretty' : 'json', colour: out.paint('bold', 'x') !== 'x' })
      const stopKeys = canAsk(out, environment) ? startKeys(out, served) : () => {}
      await served.ended.finally(stopKeys)
    })
}

function startKeys(out: Output, served: Awaited<ReturnType<typeof serve>>): () => void {
  out.note(`${describeUrls(served.urls)}\nPress h to list the keys.`)
  return listenForHotKeys(out, devKeys(served, out), served)
}
