import type { Command } from '@commander-js/extra-typings'
import { parseSince } from '../../../input/parse-option.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'
import { chooseWebhook } from '../control/webhook.ts'

/**
 * `upshot sandbox deliveries backfill <webhook>`: for a receiver that was down for the whole
 * schedule of retries.
 */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<webhook>', 'its id, its URL, or the name of an endpoint of the project')
    .option('--since <time>', 'the last 30m, 24h or 7d, or since a moment (ISO 8601) (default: ever)', parseSince)
    .action(async (name, { since = 0, ...choice }) => {
      const sandbox = await findSandbox(choice)
      const { id, url } = await chooseWebhook(sandbox, name)
      const from = since === 0 ? 'ever' : new Date(since).toISOString()
      if (isRehearsal(out, `send ${url} what never reached it since ${from}`)) return
      const { queued } = await sandbox.post<{ queued: number }>(`/webhooks/${id}/backfill`, { since })
      out.result({ webhook: id, url, queued }, () => [`${queued} events are on their way to ${url}.`])
    })
}
