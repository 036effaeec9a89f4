import type { Command } from '@commander-js/extra-typings'
import { confirm } from '../../../terminal/confirm.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'
import { chooseWebhook } from '../control/webhook.ts'

/** `upshot sandbox webhook remove <webhook>`: what was delivered stays in the log. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<webhook>', 'its id or its URL')
    .action(async (name, choice) => {
      const sandbox = await findSandbox(choice)
      const { id, url } = await chooseWebhook(sandbox, name)
      const isMeant = await confirm(out, { will: `remove the webhook ${url}; deliveries that wait for it will fail` })
      if (isMeant) await sandbox.delete(`/webhooks/${id}`)
      out.result({ id, url, removed: isMeant }, () => [
        isMeant ? `${url} is told nothing more.` : 'Nothing was removed.',
      ])
    })
}
