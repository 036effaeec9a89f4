import type { Command } from '@commander-js/extra-typings'
import type { Output } from '../../../terminal/output.ts'
import { type SandboxTime, toClockView } from '../control/clock-view.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/**
 * `upshot sandbox clock real`: retries that fell due in the time before wait for their moment
 * again.
 */
export function define(command: Command, out: Output): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(choice)
    if (isRehearsal(out, "set the clock to this machine's time")) return
    const clock = toClockView(await sandbox.post<SandboxTime>('/clock/real'), Date.now())
    out.result(clock, () => [clock.text])
  })
}
