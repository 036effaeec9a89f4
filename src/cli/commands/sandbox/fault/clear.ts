import type { Command } from '@commander-js/extra-typings'
import type { Fault } from '../../../../sandbox/index.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox fault clear [fault]`. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('[fault]', 'flt_… of "upshot sandbox fault list" (default: all)')
    .action(async (id, choice) => {
      const sandbox = await findSandbox(choice)
      const before = await sandbox.get<Fault[]>('/faults')
      const cleared = id === undefined ? before.map((fault) => fault.id) : [id]
      if (isRehearsal(out, `clear ${cleared.length} faults`)) return
      await sandbox.delete(id === undefined ? '/faults' : `/faults/${encodeURIComponent(id)}`)
      out.result({ cleared }, () => [cleared.length === 1 ? '1 fault is over.' : `${cleared.length} faults are over.`])
    })
}
