import type { Command } from '@commander-js/extra-typings'
import { resolveAmong } from '../../../../admin/queries/resolve-id.ts'
import type { TransferRecord } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox transfer cancel <id>`: cancels a running transfer; refused once it has ended. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<id>', 'id of the transfer, trf_…, or its beginning, from "upshot sandbox transfer list"')
    .action(async (given, choice) => {
      const sandbox = await findSandbox(project, choice)
      const id = resolveAmong(given, await sandbox.get<TransferRecord[]>('/transfers'))?.id ?? given
      const path = `/transfers/${encodeURIComponent(id)}`
      const { status } = await sandbox.get<TransferRecord>(path)
      if (isRehearsal(out, `cancel the transfer ${id}, which is ${status}`)) return
      const record = await sandbox.post<TransferRecord>(`${path}/cancel`)
      out.result(record, () => [`${id} is ${record.status}, after ${record.filesDone} of ${record.filesTotal} files.`])
    })
}
