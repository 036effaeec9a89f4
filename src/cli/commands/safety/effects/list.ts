import type { Command } from '@commander-js/extra-typings'
import { presentMode } from '../../../../core/safety/stop.ts'
import { listSwitches } from '../../../../core/store/safety/list-switches.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { describeSearched, noteSearched, readPage } from '../../../open/read-page.ts'
import { formatTable } from '../../../terminal/table.ts'
import { addFilter, findFilter } from './effect-filter.ts'
import { describeEffect, effectColumns } from './effect-view.ts'

const PLANNED = 'Nothing acts here now. What runs would do: upshot runs list --status planned'

/** `upshot effects list`: the newest rows of the effect ledger. */
export function define(command: Command, { out, project }: Cli): void {
  addFilter(command)
    .option('--limit <n>', 'maximum number of rows, 1 to 10000', countUpTo(10_000), 20)
    .action(({ limit, ...choice }) =>
      project.withLists(async (store) => {
        const filter = await findFilter(store, choice)
        const page = await readPage((slice) => store.searchEffects(filter, slice), limit)
        const columns = effectColumns(commandClock.now())
        const table = () => formatTable(page.items, columns, out)
        out.result(page.items.map(describeEffect), table, describeSearched(page))
        if (page.items.length === 0) out.note('No effect matches.')
        noteSearched(out, page, { limit, what: 'rows' })
        if (presentMode(await listSwitches(store)) === 'plan') out.note(PLANNED)
      }),
    )
}
