import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { systemClock } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseMs } from '../../input/parse-option.ts'
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
        const filter = type === undefined ? {} : { type }
        let newest: number | null = null
        const readNew = async (): Promise<EventRecord[]> => {
          const found: EventRecord[] = []
          const limit = newest === null ? last : PAGE
          for (let before: number | undefined; ; before = found.at(-1)?.seq) {
            const page = await store.listEvents({ ...filter, limit, ...(before === undefined ? {} : { before }) })
            const fresh = page.filter((event) => newest === null || event.seq > newest)
            found.push(...fresh)
            // More than a page may have arrived since the last call.
            if (newest === null || fresh.length < PAGE) break
          }
          newest = found[0]?.seq ?? newest ?? 0
          return found.reverse()
        }
        return follow(out, { store, ...(forMs === undefined ? {} : { forMs }) }, async () =>
          (await readNew()).map((event) => ({ data: describeEvent(event), line: formatLine(event) })),
        )
      }),
    )
}

function formatLine({ id, type, receivedAt, origin, account }: EventRecord): string {
  return `${formatMoment(receivedAt, systemClock.now())}  ${formatText(`${id}  ${type}  ${origin}  ${account}`, 160)}`
}
