import type { Command } from '@commander-js/extra-typings'
import type { Fault } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

const COLUMNS: Column<Fault>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'ON', value: ({ on }) => on },
  { title: 'STRUCK', value: ({ struck, times }) => (times === null ? struck : `${struck}/${times}`), align: 'right' },
  { title: 'COULD', value: ({ seen }) => seen, align: 'right' },
  { title: 'RULE', value: describeRule },
]

/** `upshot sandbox fault list`: all faults, used up ones too. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const faults = await sandbox.get<Fault[]>('/faults')
    out.result(faults, () => formatTable(faults, COLUMNS, out))
    if (faults.length === 0) out.note('No fault. Add one with "upshot sandbox fault add <on>".')
  })
}

function describeRule({ id: _id, on: _on, seen: _seen, struck: _struck, times: _times, ...rule }: Fault): string {
  return JSON.stringify(rule)
}
