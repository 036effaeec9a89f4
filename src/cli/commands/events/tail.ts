import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
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
        const readNew = followEvents(operations, { type, last })
        return follow(out, { operations, ...(forMs === undefined ? {} : { forMs }) }, async () =>
          (await readNew()).map((event) => ({ data: event, line: formatLine(event) })),
        )
      }),
    )
}

/**
 * Each call gives the events since the one before, the first call the newest ones. It reads back to
 * one that it knows, so that none is skipped, however many have come.
 */
function followEvents(
  operations: Operations,
  { type, last }: { type: string | undefined; last: number },
): () => Promise<Event[]> {
  let seen: ReadonlySet<string> | null = null
  return async () => {
    const events: Event[] = []
    const before = seen
    for (let after: string | null | undefined; after !== null; ) {
      const query = { limit: before === null ? last : PAGE, type, after }
      const page: AnswerOf<'GET /events'> = await call(operations, 'GET /events', { query })
      events.push(...page.items)
      after = before === null || page.items.some((event) => before.has(nameOf(event))) ? null : page.next
    }
    seen = new Set(events.map(nameOf))
    return events.filter((event) => !before?.has(nameOf(event))).reverse()
  }
}

/** Accounts may share ids. */
function nameOf({ account, id }: Event): string {
  return `${account} ${id}`
}

function formatLine({ id, type, receivedAt, origin, account }: Event): string {
  return `${formatMoment(receivedAt, commandClock.now())}  ${formatText(`${id}  ${type}  ${origin}  ${account}`, 160)}`
}
