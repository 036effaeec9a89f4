import type { Command } from '@commander-js/extra-typings'
import type { TransferRecord } from '../../../../sandbox/index.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox transfer cancel <id>`: refused where it has ended. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .argument('<id>', 'trf_… of "upshot sandbox transfer list"')
    .action(async (id, choice) => {
      const sandbox = await findSandbox(choice)
      const path = `/transfers/${encodeURIComponent(id)}`
      const { status } = await sandbox.get<TransferRecord>(path)
      if (isRehearsal(out, `cancel the transfer ${id}, which is ${status}`)) return
      const record = await sandbox.post<TransferRecord>(`${path}/cancel`)
      out.result(record, () => [`${id} is ${record.status}, after ${record.filesDone} of ${record.filesTotal} files.`])
    })
}
