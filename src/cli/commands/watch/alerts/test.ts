import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { call } from '../../../open/operations.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'

/** `upshot alerts test`: leaves with 6 where a channel does not take the message. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<rule>', 'name of a rule of the project file').action((name) =>
    project.withOperations(async (operations) => {
      const signal = onInterrupt()
      const { channels } = await call(operations, 'POST /alerts/:name/test', { params: { name }, body: {} }, { signal })
      out.result(channels, () =>
        channels.map(({ channel, error }) =>
          error === null
            ? `${out.paint('green', '✓')} ${channel} took it`
            : `${out.paint('red', '✗')} ${channel}: ${error}`,
        ),
      )
      if (channels.some(({ error }) => error !== null)) out.leaveWith('temporary')
    }),
  )
}
