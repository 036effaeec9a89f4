import type { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { EventSearch } from '../../../core/incoming/event-search.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseSince, readMoments } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { describeSearched, noteSearched, readPage } from '../../open/read-page.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeEvent } from './event-view.ts'

/** `upshot events list`: the newest events first. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--type <type>', 'only events of this type or family, such as file.created or file.*')
    .option('--account <name>', 'only events of this account')
    .option('--path <path>', 'only events about this path, such as storage_a:/in/report.pdf or /in/*', parsePath)
    .option('--text <words>', 'only events whose body contains each of these words')
    .option(
      '--since <when>',
      'only events received since then: a duration before now, such as 1h, or an ISO 8601 time',
      parseSince,
    )
    .option('--until <when>', 'only events received before then, in the same forms', parseSince)
    .option('--limit <n>', 'maximum number of events, 1 to 10000', countUpTo(10_000), 20)
    .action(({ limit, text, ...choice }) =>
      project.withLists(async (store) => {
        const words = text?.split(/\s+/).filter((word) => word !== '') ?? []
        const given = Object.entries(readMoments(choice, commandClock.now())).filter(([, value]) => value !== undefined)
        const search: EventSearch = { ...Object.fromEntries(given), ...(words.length === 0 ? {} : { words }) }
        const page = await readPage((slice) => store.searchEvents(search, slice), limit)
        const { items } = page
        const lines = () => formatTable(items, eventColumns(commandClock.now()), out)
        out.result(items.map(describeEvent), lines, describeSearched(page))
        if (items.length === 0) {
          const isFiltered = Object.keys(search).length > 0
          out.note(isFiltered ? 'No event matches.' : 'No event yet. Send one with "upshot trigger file.created".')
        }
        noteSearched(out, page, { limit, what: 'events' })
      }),
    )
}

/** A path begins with a slash; a storage and a colon may stand before it. */
function parsePath(text: string): string {
  if (/^(?:[\w-]+:)?\/./.test(text)) return text
  throw new InvalidArgumentError('Give a path such as storage_a:/in/report.pdf or /in/*.')
}

/** Columns of a table of events. */
export function eventColumns(now: number): Column<EventRecord>[] {
  return [
    { title: 'EVENT', value: ({ id }) => id, most: 60, least: 20, isId: true },
    { title: 'TYPE', value: ({ type }) => type, least: 12 },
    { title: 'RECEIVED', value: ({ receivedAt }) => formatMoment(receivedAt, now), cut: 'never' },
    { title: 'ORIGIN', value: ({ origin }) => origin, isMinor: true },
    { title: 'ACCOUNT', value: ({ account }) => account },
    { title: 'SIZE', value: ({ body }) => formatBytes(Buffer.byteLength(body)), align: 'right', isMinor: true },
  ]
}
