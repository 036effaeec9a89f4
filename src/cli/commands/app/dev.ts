import type { Command } from '@commander-js/extra-typings'
import { serve } from '../../../app/serve.ts'
import { processEnvironment } from '../../../project/config/environment.ts'
import { loadProject } from '../../open/open-project.ts'
import { canAsk } from '../../terminal/confirm.ts'
import { listenForHotKeys } from '../../terminal/hot-keys.ts'
import type { Output } from '../../terminal/output.ts'
import { describeUrls, devKeys } from './dev-keys.ts'

/**
 * `upshot dev`: the app with a sandbox of the service, a log for a person, and keys on a terminal.
 */
export function define(command: Command, out: Output): void {
  command
    .option('--real', 'work with the service that the environment names, instead of the sandbox')
    .option('--port <port>', 'port of the receiver (default: 4700)')
    .action(async ({ real = false, port }) => {
      const flags = port === undefined ? {} : { UPSHOT_PORT: { flag: '--port', value: port } }
      const config = { ...(await loadProject(flags, { isSandbox: !real })), dev: true }
      const environment = processEnvironment()
      if (!real && environment.SERVICE_BASE_URL) {
        out.note(
          'SERVICE_BASE_URL is set, and not used: this works with the sandbox. Use --real for the service itself.',
        )
      }
      const isPretty = out.isWatched
      const served = await serve(config, { log: isPretty ? 'pretty' : 'json', colour: out.paint('bold', 'x') !== 'x' })
      const stopKeys = canAsk(out, environment) ? startKeys(out, served) : () => {}
      await served.ended.finally(stopKeys)
    })
}

function startKeys(out: Output, served: Awaited<ReturnType<typeof serve>>): () => void {
  out.note(`${describeUrls(served.urls)}\nPress ? for the keys.`)
  return listenForHotKeys(out, devKeys(served, out), served)
}
