import type { Command } from '@commander-js/extra-typings'
import { describeScope } from '../../../../core/safety/stop.ts'
import { findUseLimit } from '../../../../core/safety/suggest-limits.ts'
import type { GuardUse } from '../../../../core/store/safety/effects.ts'
import { isoTime } from '../../../../core/time.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatBytes, formatMoment, formatText } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

/** A counter with the limit of the project; a workflow's own limits are in its module. */
interface UseRow extends GuardUse {
  limit: number | null
}

/** `upshot guard show`: what counts in each window now, and the stops in force. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withStore(async (store, { guardPolicy }) => {
      const now = commandClock.now()
      const use = await store.listGuardUse(now)
      const rows = use.map((each): UseRow => ({ ...each, limit: findUseLimit(guardPolicy.limits, each) }))
      const stops = (await store.listStops()).map(({ since, ...stop }) => ({ ...stop, since: isoTime(since) }))
      out.result({ limits: guardPolicy.limits, use: rows, stops }, () => [
        ...formatTable(rows, COLUMNS, out),
        ...stops.map(
          ({ since, actor, reason, ...scope }) =>
            `${describeScope(scope)} are stopped since ${formatMoment(Date.parse(since), now)} ` +
            `by ${actor}: ${formatText(reason)}`,
        ),
      ])
      if (guardPolicy.limits === null) out.note('The guard is off (UPSHOT_GUARD=off).')
      if (rows.length === 0) out.note('Nothing was deleted within a day.')
    }),
  )
}

const COLUMNS: Column<UseRow>[] = [
  { title: 'SCOPE', value: ({ scope }) => scope.replaceAll('/', ' '), most: 60 },
  { title: 'WHAT', value: ({ class: kind }) => (kind === 'approved' ? 'approved' : `${kind}s`) },
  { title: 'WINDOW', value: ({ window }) => `1 ${window}` },
  { title: 'USED', value: ({ count }) => count, align: 'right' },
  { title: 'LIMIT', value: ({ limit }) => limit, align: 'right' },
  { title: 'BYTES', value: ({ bytes }) => formatBytes(bytes), align: 'right' },
]
