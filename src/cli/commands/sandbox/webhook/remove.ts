import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { findWebhook } from '../control/find-webhook.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox webhook remove <webhook>`: removes a webhook; its deliveries stay listed. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<webhook>', 'id or URL of the webhook, or name of an endpoint of the project')
    .action(async (name, choice) => {
      const sandbox = await findSandbox(project, choice)
      const { id, url } = await findWebhook({ sandbox, project }, name)
      const isConfirmed = await confirm(out, { will: `remove the webhook ${url}, and fail its pending deliveries` })
      if (isConfirmed) await sandbox.delete(`/webhooks/${id}`)
      out.result({ id, url, removed: isConfirmed }, () => [
        isConfirmed ? `Removed the webhook ${url}.` : 'Nothing was removed.',
      ])
    })
}
