import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { describeClock, type SandboxTime } from '../control/describe-clock.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox clock real`: sets this machine's time; pending retries keep their due times. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    if (isRehearsal(out, "set the clock to this machine's time")) return
    const clock = describeClock(await sandbox.post<SandboxTime>('/clock/real'), Date.now())
    out.result(clock, () => [clock.text])
  })
}
