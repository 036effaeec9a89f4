import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../command.ts'
import { call } from '../../open/operations.ts'
import { refrain } from '../../operate/act-command.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'

/** `upshot deliveries replay <id>`: sends the same bytes, newly signed. Exits with 7 if refused. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of an accepted delivery, dlv_…, or its beginning').action((id) =>
    project.withOperations(async (operations) => {
      const params = { id }
      if (out.given.dryRun) {
        await call(operations, 'GET /deliveries/:id', { params })
        return refrain(out, `send the bytes of ${id} again`)
      }
      const signal = onInterrupt()
      const answer = await call(operations, 'POST /deliveries/:id/replay', { params, body: {} }, { signal })
      const { event, endpoint, status, verdict, reason } = answer
      const got = `${verdict ?? `refused with HTTP ${status}`}${reason === null ? '' : ` (${reason})`}`
      out.result(answer, () => [
        verdict === 'duplicate'
          ? `The endpoint "${endpoint}" verified the bytes of ${event} and recognized them: duplicate.`
          : `The endpoint "${endpoint}" answered the bytes of ${event}: ${got}.`,
      ])
      if (verdict !== 'duplicate') out.leaveWith('difference')
      else out.note('No run was started.')
    }),
  )
}
