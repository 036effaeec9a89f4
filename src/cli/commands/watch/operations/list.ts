import type { Command } from '@commander-js/extra-typings'
import type { BulkOperation } from '../../../../core/safety/bulk.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatMoment, withIsoTimes } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

const DEFAULT_LIMIT = 20

/** `upshot operations list`: operations on many runs or events, newest first. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--limit <count>', 'the most operations to print', countUpTo(1_000), DEFAULT_LIMIT)
    .action(({ limit }) =>
      project.withStore(async (store) => {
        const operations = await store.listBulks({ limit })
        const now = commandClock.now()
        out.result(operations.map(withIsoTimes), () => formatTable(operations, columns(now), out))
        if (operations.length === 0) out.note('There was no operation on many runs or events yet.')
      }),
    )
}

function columns(now: number): Column<BulkOperation>[] {
  return [
    { title: 'OPERATION', value: ({ id }) => id, isId: true },
    { title: 'DOES', value: ({ kind, isDryRun }) => (isDryRun ? `${kind}, counts only` : kind) },
    { title: 'STATE', value: ({ status }) => status },
    { title: 'DONE', value: ({ done, count }) => `${done} of ${count.total}`, align: 'right' },
    { title: 'REFUSED', value: ({ refused }) => refused, align: 'right' },
    { title: 'BY', value: ({ operator }) => operator.actor, most: 30 },
    { title: 'BEGUN', value: ({ createdAt }) => formatMoment(createdAt, now) },
  ]
}
