import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { systemClock } from '../../../core/time.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { withStore } from '../../open/open-project.ts'
import { formatBytes, formatMoment, withIsoTimes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatTable } from '../../terminal/table.ts'

/** `upshot events list`: newest first. */
export function define(command: Command, out: Output): void {
  command
    .option('--type <type>', 'only events of this type')
    .option('--limit <n>', 'how many', countUpTo(10_000), 20)
    .action(({ type, limit }) =>
      withStore(async (store) => {
        const events = await store.listEvents({ limit, ...(type === undefined ? {} : { type }) })
        out.result(events.map(describeEvent), () => formatTable(events, columns(systemClock.now()), out.paint))
        if (events.length === 0) out.note('No such event yet. Send one with "upshot trigger file.created".')
      }),
    )
}

/** An event without its content, which may be large. */
function describeEvent({ body, ...event }: EventRecord): Record<string, unknown> {
  return { ...withIsoTimes(event), bodyBytes: Buffer.byteLength(body) }
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
