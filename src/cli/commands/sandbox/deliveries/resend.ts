import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Delivery } from '../../../../sandbox/index.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox deliveries resend <event>`: the same id and the same bytes, freshly signed. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<event>', 'evt_… of "upshot sandbox deliveries list"')
    .action(async (id, choice) => {
      const sandbox = await findSandbox(choice)
      if (isRehearsal(out, `send ${id} to every webhook that wants it`)) return
      const queued = await sandbox.post<Delivery[]>(`/events/${encodeURIComponent(id)}/resend`)
      if (queued.length === 0) {
        throw new UpshotError('not_found', `No webhook wants ${id} now.`, {
          details: { fix: 'Register one with "upshot sandbox webhook add <url>".' },
        })
      }
      out.result(queued, () => queued.map(({ url }) => `${id} is on its way to ${url}.`))
      out.note(`See how it went: upshot sandbox deliveries list --event ${id}`)
    })
}
