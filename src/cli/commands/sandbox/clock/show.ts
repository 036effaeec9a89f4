import type { Command } from '@commander-js/extra-typings'
import type { Output } from '../../../terminal/output.ts'
import { type SandboxTime, toClockView } from '../control/clock-view.ts'
import { atSandbox, findSandbox } from '../control/sandbox-control.ts'

/** `upshot sandbox clock show`. */
export function define(command: Command, out: Output): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(choice)
    const clock = toClockView(await sandbox.get<SandboxTime>('/clock'), Date.now())
    out.result(clock, () => [clock.text])
  })
}
