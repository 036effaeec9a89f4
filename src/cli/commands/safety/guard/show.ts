import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import { describeScope } from '../../../../core/safety/stop.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { call } from '../../../open/operations.ts'
import { formatBytes, formatMoment, formatText } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

/** `upshot guard show`: what counts in each window now, and the stops in force. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withOperations(async (operations) => {
      const now = commandClock.now()
      const guard = await call(operations, 'GET /guard')
      out.result(guard, () => [
        ...formatTable(guard.use, COLUMNS, out),
        ...guard.stops.map(
          ({ since, actor, reason, ...scope }) =>
            `${describeScope(scope)} are stopped since ${formatMoment(since, now)} by ${actor}: ${formatText(reason)}`,
        ),
      ])
      if (!guard.isOn) out.note('The guard is off (UPSHOT_GUARD=off).')
      if (guard.use.length === 0) out.note('Nothing was deleted within a day.')
    }),
  )
}

const COLUMNS: Column<AnswerOf<'GET /guard'>['use'][number]>[] = [
  { title: 'SCOPE', value: ({ scope }) => scope.replaceAll('/', ' '), most: 60 },
  { title: 'WHAT', value: ({ class: kind }) => (kind === 'approved' ? 'approved' : `${kind}s`) },
  { title: 'WINDOW', value: ({ window }) => `1 ${window}` },
  { title: 'USED', value: ({ count }) => count, align: 'right' },
  { title: 'LIMIT', value: ({ limit }) => limit, align: 'right' },
  { title: 'BYTES', value: ({ bytes }) => formatBytes(bytes), align: 'right' },
]
