import { type Command, Option } from '@commander-js/extra-typings'
import { RUN_ORIGINS } from '../../../core/runs/run.ts'
import { systemClock } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { formatTable } from '../../terminal/table.ts'
import { describeRun, runColumns } from './run-view.ts'
import { addRunChoice, toFilter } from './select-runs.ts'

/** `upshot runs list`: the newest runs first. */
export function define(command: Command, { out, project }: Cli): void {
  addRunChoice(command)
    .addOption(new Option('--origin <origin>', 'only runs with this origin').choices(RUN_ORIGINS))
    .option('--limit <n>', 'maximum number of runs, 1 to 10000', countUpTo(10_000), 20)
    .action(({ limit, origin, ...choice }) =>
      project.withStore(async (store) => {
        const runs = await store.listRuns({
          limit,
          ...toFilter(choice),
          ...(origin === undefined ? {} : { origin }),
        })
        out.result(runs.map(describeRun), () => formatTable(runs, runColumns(systemClock.now()), out.paint))
        if (runs.length === 0) out.note('No run matches. Start one with an event: upshot trigger file.created')
      }),
    )
}
