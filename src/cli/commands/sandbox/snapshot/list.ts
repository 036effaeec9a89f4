import type { Command } from '@commander-js/extra-typings'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox snapshot list`. */
export function define(command: Command, out: Output): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(choice)
    const names = await sandbox.get<string[]>('/snapshots')
    out.result(names, () => names)
    if (names.length === 0) out.note('No snapshot yet. Save one with "upshot sandbox snapshot save <name>".')
  })
}
