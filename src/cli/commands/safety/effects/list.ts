import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo, parseSince } from '../../../input/parse-option.ts'
import { formatTable } from '../../../terminal/table.ts'
import { describeEffect, effectColumns } from './effect-view.ts'

/** `upshot effects list`: the newest rows of the effect ledger. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--workflow <id>', 'only effects of the workflow with this id')
    .option('--run <id>', 'only effects of this run')
    .option('--since <when>', 'only since then: a duration before now, such as 1h, or an ISO 8601 time', parseSince)
    .option('--limit <n>', 'maximum number of rows, 1 to 10000', countUpTo(10_000), 20)
    .action(({ limit, workflow, run, since }) =>
      project.withStore(async (store) => {
        const rows = await store.listEffects({
          limit,
          ...(workflow === undefined ? {} : { workflow }),
          ...(run === undefined ? {} : { runId: run }),
          ...(since === undefined ? {} : { since }),
        })
        out.result(rows.map(describeEffect), () => formatTable(rows, effectColumns(systemClock.now()), out))
        if (rows.length === 0) out.note('No effect matches.')
      }),
    )
}
