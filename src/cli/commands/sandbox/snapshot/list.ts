import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox snapshot list`: the names of all snapshots. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const names = await sandbox.get<string[]>('/snapshots')
    out.result(names, () => names)
    if (names.length === 0) out.note('No snapshot yet. Save one with "upshot sandbox snapshot save <name>".')
  })
}
