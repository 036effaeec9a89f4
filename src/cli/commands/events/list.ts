import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { systemClock } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeEvent } from './event-view.ts'

/** `upshot events list`: the newest events first. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--type <type>', 'only events of this exact type, such as file.created')
    .option('--limit <n>', 'maximum number of events, 1 to 10000', countUpTo(10_000), 20)
    .action(({ type, limit }) =>
      project.withStore(async (store) => {
        const events = await store.listEvents({ limit, ...(type === undefined ? {} : { type }) })
        out.result(events.map(describeEvent), () => formatTable(events, columns(systemClock.now()), out.paint))
        if (events.length === 0) out.note('No event yet. Send one with "upshot trigger file.created".')
      }),
    )
}

function columns(now: number): Column<EventRecord>[] {
  return [
    { title: 'EVENT', value: ({ id }) => id, most: 60 },
    { title: 'TYPE', value: ({ type }) => type },
    { title: 'RECEIVED', value: ({ receivedAt }) => formatMoment(receivedAt, now) },
    { title: 'ORIGIN', value: ({ origin }) => origin },
    { title: 'ACCOUNT', value: ({ account }) => account },
    { title: 'SIZE', value: ({ body }) => formatBytes(Buffer.byteLength(body)), align: 'right' },
  ]
}
