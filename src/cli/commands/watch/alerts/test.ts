import type { Command } from '@commander-js/extra-typings'
import { testAlert } from '../../../../app/alerts/open-alerts.ts'
import { systemClock } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'

/** `upshot alerts test`: leaves with 6 where a channel does not take the message. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<rule>', 'name of a rule of the project file').action(async (rule) => {
    const sent = await testAlert(await project.load(), rule, { clock: systemClock, signal: onInterrupt() })
    await project.recordAction({ action: 'alert.test', target: rule, parameters: {} }, 'done')
    out.result(sent, () =>
      sent.map(({ channel, error }) =>
        error === null
          ? `${out.paint('green', '✓')} ${channel} took it`
          : `${out.paint('red', '✗')} ${channel}: ${error.message}`,
      ),
    )
    if (sent.some(({ error }) => error !== null)) out.leaveWith('temporary')
  })
}
