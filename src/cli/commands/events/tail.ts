import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseMs } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { follow } from '../../terminal/follow.ts'
import { formatMoment, formatText } from '../../terminal/format-value.ts'
import { describeEvent } from './event-view.ts'

const PAGE = 500

/** `upshot events tail`: each event as it arrives, until Ctrl-C. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--type <type>', 'only events of this exact type, such as file.created')
    .option('--last <n>', 'number of stored events to begin with, 1 to 500', countUpTo(500), 10)
    .option('--for <duration>', 'stop after this long, such as 30s or 5m (default: at Ctrl-C)', parseMs)
    .action(({ type, last, for: forMs }) =>
      project.withStore((store) => {
        const readNew = followEvents(store, { type, last })
        return follow(out, { store, ...(forMs === undefined ? {} : { forMs }) }, async () =>
          (await readNew()).map((event) => ({ data: describeEvent(event), line: formatLine(event) })),
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
): () => Promise<EventRecord[]> {
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
  return async () => {
    const { newest } = await store.listMatchCursors()
    const before = seen
    seen = newest
    if (before === null) return readNewest(newest)
    const streams = [...newest].map(([stream, seq]) => readStream(stream, before.get(stream) ?? 0, seq))
    return (await Promise.all(streams)).flat().sort((a, b) => a.receivedAt - b.receivedAt)
  }
}

function formatLine({ id, type, receivedAt, origin, account }: EventRecord): string {
  return `${formatMoment(receivedAt, commandClock.now())}  ${formatText(`${id}  ${type}  ${origin}  ${account}`, 160)}`
}
