import type { Command } from '@commander-js/extra-typings'
import { findAlertRule, testAlert } from '../../../../app/health/open-alerts.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'

/** `upshot alerts test`: leaves with 6 where a channel does not take the message. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<rule>', 'name of a rule of the project file').action(async (rule) => {
    const config = await project.load()
    const { name } = findAlertRule(config, rule)
    await project.recordAction({ action: 'alert.test', target: name, parameters: {} }, 'begun')
    const sent = await testAlert(config, name, { clock: commandClock, signal: onInterrupt() })
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
