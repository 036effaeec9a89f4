import type { Command } from '@commander-js/extra-typings'
import type { EventRecord } from '../../../core/incoming/event.ts'
import { systemClock } from '../../../core/time.ts'
import { countUpTo, duration } from '../../input/parse-option.ts'
import { withStore } from '../../open/open-project.ts'
import { follow } from '../../terminal/follow.ts'
import { formatMoment, formatText, withIsoTimes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'

const PAGE = 500

/** `upshot events tail`: each event as it comes, until Ctrl-C. */
export function define(command: Command, out: Output): void {
  command
    .option('--type <type>', 'only events of this type')
    .option('--last <n>', 'begin with so many that are there', countUpTo(500), 10)
    .option('--for <duration>', 'end by itself after this long', duration)
    .action(({ type, last, for: forMs }) =>
      withStore((store) => {
        const filter = type === undefined ? {} : { type }
        let newest: number | null = null
        const look = async (): Promise<EventRecord[]> => {
          const found: EventRecord[] = []
          const limit = newest === null ? last : PAGE
          for (let before: number | undefined; ; before = found.at(-1)?.seq) {
            const page = await store.listEvents({ ...filter, limit, ...(before === undefined ? {} : { before }) })
            const fresh = page.filter((event) => newest === null || event.seq > newest)
            found.push(...fresh)
            // A burst may have brought more than a page since the last look.
            if (newest === null || fresh.length < PAGE) break
          }
          newest = found[0]?.seq ?? newest ?? 0
          return found.reverse()
        }
        return follow(out, { store, ...(forMs === undefined ? {} : { forMs }) }, async () =>
          (await look()).map((event) => ({ data: describeEvent(event), line: formatLine(event) })),
        )
      }),
    )
}

function describeEvent({ body, ...event }: EventRecord): Record<string, unknown> {
  return { ...withIsoTimes(event), bodyBytes: Buffer.byteLength(body) }
}

function formatLine({ id, type, receivedAt, origin, account }: EventRecord): string {
  return `${formatMoment(receivedAt, systemClock.now())}  ${formatText(`${id}  ${type}  ${origin}  ${account}`, 160)}`
}
