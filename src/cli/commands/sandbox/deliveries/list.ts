import { type Command, Option } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { Delivery } from '../../../../sandbox/index.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { findSandboxEvent } from '../control/find-sandbox-event.ts'
import { findWebhook } from '../control/find-webhook.ts'
import { atSandbox, findSandbox, withQuery } from '../control/sandbox-control.ts'
import { showTime } from '../control/view.ts'

/** `upshot sandbox deliveries list`: deliveries as the sender sees them, newest first. */
export function define(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .option('--limit <n>', 'maximum number of deliveries, 1 to 10000', countUpTo(10_000), 20)
    .option('--type <type>', 'only events of this exact type, such as file.created')
    .option('--event <id>', 'only the event with this id, evt_…, or its beginning')
    .option('--webhook <webhook>', 'only to this webhook: its id or URL, or the name of an endpoint')
    .addOption(
      new Option('--state <state>', 'only deliveries with this state').choices([
        'pending',
        'sending',
        'delivered',
        'failed',
      ]),
    )
    .action(async ({ limit, type, event, webhook, state, ...choice }) => {
      const sandbox = await findSandbox(project, choice)
      const webhookId = webhook === undefined ? undefined : (await findWebhook({ sandbox, project }, webhook)).id
      const eventId = event === undefined ? undefined : await findSandboxEvent(sandbox, event)
      const query = { limit, type, eventId, webhookId, state }
      const deliveries = (await sandbox.get<Delivery[]>(withQuery('/deliveries', query))).reverse()
      out.result(deliveries, () => formatTable(deliveries, columns(systemClock.now()), out))
      if (deliveries.length === 0) out.note('No delivery matches.')
    })
}

function columns(now: number): Column<Delivery>[] {
  return [
    { title: 'EVENT', value: ({ eventId }) => eventId },
    { title: 'TYPE', value: ({ type }) => type, most: 40 },
    { title: 'STATE', value: ({ state }) => state, style: ({ state }) => STYLES[state] },
    { title: 'CAUSE', value: ({ cause }) => cause },
    { title: 'TRIES', value: ({ attempts }) => attempts.length, align: 'right' },
    { title: 'ANSWER', value: lastAnswer, most: 40 },
    { title: 'NEXT', value: ({ nextAttemptAt }) => showTime(nextAttemptAt, now) },
    { title: 'URL', value: ({ url }) => url },
  ]
}

const STYLES = { pending: 'yellow', sending: 'yellow', delivered: 'green', failed: 'red' } as const

function lastAnswer({ attempts }: Delivery): string | number | null {
  const last = attempts.at(-1)
  return last?.status ?? last?.error ?? null
}
