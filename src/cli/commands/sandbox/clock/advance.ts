import type { Command } from '@commander-js/extra-typings'
import { parseDuration } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { describeClock, type SandboxTime } from '../control/describe-clock.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

/** `upshot sandbox clock advance <duration>`: ends when everything that fell due is done. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<duration>', 'duration, such as 90s, 16m or 2h')
    .action(async (by, choice) => {
      parseDuration(by)
      const sandbox = await findSandbox(project, choice)
      if (isRehearsal(out, `advance the clock by ${by}`)) return
      const clock = describeClock(await sandbox.post<SandboxTime>('/clock/advance', { by }), Date.now())
      out.result(clock, () => [clock.text])
      if (clock.aheadMs > 0) out.note("Return to this machine's time: upshot sandbox clock real")
    })
}
