import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { describeClock, type SandboxTime } from '../control/describe-clock.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox clock show`: the sandbox's time, and its distance from this machine's. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const clock = describeClock(await sandbox.get<SandboxTime>('/clock'), Date.now())
    out.result(clock, () => [clock.text])
  })
}
