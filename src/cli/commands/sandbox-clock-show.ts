import type { Command } from '@commander-js/extra-typings'
import type { Output } from '../output.ts'
import { describeClock, type SandboxTime } from '../sandbox-clock.ts'
import { atSandbox, findSandbox } from '../sandbox-control.ts'

/** `upshot sandbox clock show`. */
export function define(command: Command, out: Output): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(choice)
    const clock = describeClock(await sandbox.get<SandboxTime>('/clock'), Date.now())
    out.result(clock, () => [clock.text])
  })
}
