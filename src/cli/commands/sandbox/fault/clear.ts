import type { Command } from '@commander-js/extra-typings'
import type { Fault } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox fault clear [fault]`: removes one fault, or all. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('[fault]', 'id of the fault, flt_…, from "upshot sandbox fault list" (default: all)')
    .action(async (id, choice) => {
      const sandbox = await findSandbox(project, choice)
      const before = await sandbox.get<Fault[]>('/faults')
      const cleared = id === undefined ? before.map((fault) => fault.id) : [id]
      if (isRehearsal(out, `remove ${cleared.length} faults`)) return
      await sandbox.delete(id === undefined ? '/faults' : `/faults/${encodeURIComponent(id)}`)
      out.result({ cleared }, () => [`Removed ${cleared.length} ${cleared.length === 1 ? 'fault' : 'faults'}.`])
    })
}
