import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { TransferRecord } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'
import { describeEnd, describeProgress, showTime } from '../control/view.ts'

/** `upshot sandbox transfer list`: the newest transfers first. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .option('--limit <n>', 'maximum number of transfers, 1 to 10000', countUpTo(10_000), 20)
    .action(async ({ limit, ...choice }) => {
      const sandbox = await findSandbox(project, choice)
      const transfers = (await sandbox.get<TransferRecord[]>('/transfers')).slice(-limit).reverse()
      out.result(transfers, () => formatTable(transfers, columns(systemClock.now()), out))
      if (transfers.length === 0)
        out.note('No transfer yet. Start one with "upshot sandbox transfer start <from> <to>".')
    })
}

function columns(now: number): Column<TransferRecord>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'STARTED', value: ({ startedAt }) => showTime(startedAt, now) },
    { title: 'FROM', value: ({ source }) => describeEnd(source), most: 50 },
    { title: 'TO', value: ({ destination }) => describeEnd(destination), most: 50 },
    { title: 'FILES', value: ({ filesDone, filesTotal }) => `${filesDone}/${filesTotal}`, align: 'right' },
    { title: 'BYTES', value: ({ bytesDone }) => formatBytes(bytesDone), align: 'right' },
    { title: 'STATE', value: describeProgress, most: 80 },
  ]
}
