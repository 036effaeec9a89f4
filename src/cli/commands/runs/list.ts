import { type Command, Option } from '@commander-js/extra-typings'
import { RUN_ORIGINS } from '../../../core/runs/run.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { describeSearched, noteSearched, readPage } from '../../open/read-page.ts'
import { formatTable } from '../../terminal/table.ts'
import { describeRun, runColumns } from './run-view.ts'
import { addRunChoice, findFilter } from './select-runs.ts'

/** `upshot runs list`: the newest runs first. */
export function define(command: Command, { out, project }: Cli): void {
  addRunChoice(command)
    .addOption(new Option('--origin <origin>', 'only runs with this origin').choices(RUN_ORIGINS))
    .option('--limit <n>', 'maximum number of runs, 1 to 10000', countUpTo(10_000), 20)
    .action(({ limit, origin, ...choice }) =>
      project.withLists(async (store) => {
        const filter = { ...(await findFilter(store, choice)), ...(origin === undefined ? {} : { origin }) }
        const page = await readPage((slice) => store.searchRuns(filter, slice), limit)
        const columns = runColumns(commandClock.now())
        out.result(page.items.map(describeRun), () => formatTable(page.items, columns, out), describeSearched(page))
        if (page.items.length === 0) {
          const isFiltered = Object.keys(filter).length > 0
          out.note(isFiltered ? 'No run matches.' : 'No run yet. Start one with an event: upshot trigger file.created')
        }
        noteSearched(out, page, { limit, what: 'runs' })
      }),
    )
}
