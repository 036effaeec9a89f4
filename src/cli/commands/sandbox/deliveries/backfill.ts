import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { parseSince } from '../../../input/parse-option.ts'
import { findWebhook } from '../control/find-webhook.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox deliveries backfill <webhook>`: for a receiver that was down for all retries. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<webhook>', 'id or URL of the webhook, or name of an endpoint of the project')
    .option(
      '--since <time>',
      'only events since then: a duration before now, such as 24h, or an ISO 8601 time (default: all)',
      parseSince,
    )
    .action(async (name, { since: asked, ...choice }) => {
      const since = asked?.(systemClock.now()) ?? 0
      const sandbox = await findSandbox(project, choice)
      const { id, url } = await findWebhook({ sandbox, project }, name)
      const from = since === 0 ? '' : ` since ${new Date(since).toISOString()}`
      if (isRehearsal(out, `send ${url} every event that it missed${from}`)) return
      const { queued } = await sandbox.post<{ queued: number }>(`/webhooks/${id}/backfill`, { since })
      out.result({ webhook: id, url, queued }, () => [`Queued ${queued} events for ${url}.`])
    })
}
