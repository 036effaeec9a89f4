import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Delivery } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { findSandboxEvent } from '../control/find-sandbox-event.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox deliveries resend <event>`: sends the same bytes again, newly signed. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<event>', 'id of the event, evt_…, or its beginning, from "upshot sandbox deliveries list"')
    .action(async (given, choice) => {
      const sandbox = await findSandbox(project, choice)
      const id = await findSandboxEvent(sandbox, given)
      if (isRehearsal(out, `send ${id} to every webhook that subscribes to it`)) return
      const queued = await sandbox.post<Delivery[]>(`/events/${encodeURIComponent(id)}/resend`)
      if (queued.length === 0) {
        throw new UpshotError('not_found', `No webhook subscribes to ${id}.`, {
          details: { fix: 'Add one with "upshot sandbox webhook add <url>".' },
        })
      }
      out.result(queued, () => queued.map(({ url }) => `Queued ${id} for ${url}.`))
      out.note(`See the result: upshot sandbox deliveries list --event ${id}`)
    })
}
