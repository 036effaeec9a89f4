import type { Command } from '@commander-js/extra-typings'
import type { Cli } from '../../../command.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { call } from '../../../open/operations.ts'
import { tellEffect } from './tell-effect.ts'

/** The highest number that a row can be asked for by. */
const MOST = 999_999_999

/** `upshot effects show <n>`: everything that one row of the ledger says. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<number>', 'number of the row, as "effects list" prints it', countUpTo(MOST)).action((seq) =>
    project.withOperations(async (operations) => {
      const row = await call(operations, 'GET /effects/:seq', { params: { seq: String(seq) } })
      const seal = row.isSealed ? '  sealed' : '  not sealed yet'
      out.result(row, () => [...tellEffect(row, commandClock.now()), seal])
    }),
  )
}
