import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { describeEvent } from '../../../admin/views/event-view.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseMs } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { call, type Operations } from '../../open/operations.ts'
import { follow } from '../../operate/follow.ts'
import { formatMoment, formatText } from '../../terminal/format-value.ts'

const PAGE = 500

type Event = AnswerOf<'GET /events'>['items'][number]

/** `upshot events tail`: each event as it arrives, until Ctrl-C. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--type <type>', 'only events of this exact type, such as file.created')
    .option('--last <n>', 'number of stored events to begin with, 1 to 500', countUpTo(500), 10)
    .option('--for <duration>', 'stop after this long, such as 30s or 5m (default: at Ctrl-C)', parseMs)
    .action(({ type, last, for: forMs }) =>
      project.withOperations((operations) => {
        const { local } = operations
        const readNew = local ? followEvents(local.store, { type, last }) : askForEvents(operations, { type, last })
        return follow(out, { operations, ...(forMs === undefined ? {} : { forMs }) }, async () =>
          (await readNew()).map((event) => ({ data: event, line: formatLine(event) })),
        )
      }),
    )
}

/**
 * Each call gives the events since the one before, the first call the newest ones. Within a stream
 * none is skipped, whoever commits late.
 */
function followEvents(
  store: ReadStore,
  { type, last }: { type: string | undefined; last: number },
): () => Promise<Event[]> {
  let seen: ReadonlyMap<number, number> | null = null
  const readNewest = async (newest: ReadonlyMap<number, number>) => {
    const page = await store.listEvents({ limit: last, ...(type === undefined ? {} : { type }) })
    // The others come with the next call.
    return page.filter(({ stream, seq }) => seq <= (newest.get(stream) ?? 0)).reverse()
  }
  const readStream = async (stream: number, after: number, newest: number) => {
    const found: EventRecord[] = []
    for (let from = after; from < newest; from += PAGE) {
      const types = type === undefined ? null : [type]
      found.push(...(await store.listEventsAfter({ stream, after: from, upTo: Math.min(from + PAGE, newest), types })))
    }
    return found
  }
  const read = async () => {
    const { newest } = await store.listMatchCursors()
    const before = seen
    seen = newest
    if (before === null) return readNewest(newest)
    const streams = [...newest].map(([stream, seq]) => readStream(stream, before.get(stream) ?? 0, seq))
    return (await Promise.all(streams)).flat().sort((a, b) => a.receivedAt - b.receivedAt)
  }
  return async () => (await read()).map((event) => describeEvent(event, OWNER))
}

/** The right to open the database is the right to see all of it. */
const OWNER = { role: 'admin' } as const

/** The same at a server: of the newest 500, those that were not there before. */
function askForEvents(
  operations: Operations,
  { type, last }: { type: string | undefined; last: number },
): () => Promise<Event[]> {
  let seen: ReadonlySet<string> | null = null
  return async () => {
    const query = { limit: seen === null ? last : PAGE, ...(type === undefined ? {} : { type }) }
    const { items } = await call(operations, 'GET /events', { query })
    const before = seen
    seen = new Set([...(before ?? []), ...items.map(({ account, id }) => `${account} ${id}`)])
    return items.filter(({ account, id }) => !before?.has(`${account} ${id}`)).reverse()
  }
}

function formatLine({ id, type, receivedAt, origin, account }: Event): string {
  return `${formatMoment(receivedAt, commandClock.now())}  ${formatText(`${id}  ${type}  ${origin}  ${account}`, 160)}`
}
