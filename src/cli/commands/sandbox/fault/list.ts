import type { Command } from '@commander-js/extra-typings'
import type { Fault } from '../../../../sandbox/index.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

const COLUMNS: Column<Fault>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'ON', value: ({ on }) => on },
  { title: 'STRUCK', value: ({ struck, times }) => (times === null ? struck : `${struck}/${times}`), align: 'right' },
  { title: 'COULD', value: ({ seen }) => seen, align: 'right' },
  { title: 'RULE', value: describeRule },
]

/** `upshot sandbox fault list`: used up ones too. */
export function define(command: Command, out: Output): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(choice)
    const faults = await sandbox.get<Fault[]>('/faults')
    out.result(faults, () => formatTable(faults, COLUMNS, out.paint))
    if (faults.length === 0) out.note('Nothing is set to go wrong.')
  })
}

function describeRule({ id: _id, on: _on, seen: _seen, struck: _struck, times: _times, ...rule }: Fault): string {
  return JSON.stringify(rule)
}
