import { type Command, Option } from '@commander-js/extra-typings'
import { systemClock } from '../../../../core/time.ts'
import type { Delivery } from '../../../../sandbox/index.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { atSandbox, findSandbox, withQuery } from '../control/sandbox-control.ts'
import { showTime } from '../control/view.ts'
import { chooseWebhook } from '../control/webhook.ts'

/** `upshot sandbox deliveries list`: as the sender saw them, newest first. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .option('--limit <n>', 'how many', countUpTo(10_000), 20)
    .option('--type <type>', 'only events of this type')
    .option('--event <id>', 'only this event')
    .option('--webhook <webhook>', 'only to this one: its id or its URL')
    .addOption(new Option('--state <state>', 'only those').choices(['pending', 'sending', 'delivered', 'failed']))
    .action(async ({ limit, type, event, webhook, state, ...choice }) => {
      const sandbox = await findSandbox(choice)
      const webhookId = webhook === undefined ? undefined : (await chooseWebhook(sandbox, webhook)).id
      const query = { limit, type, eventId: event, webhookId, state }
      const deliveries = (await sandbox.get<Delivery[]>(withQuery('/deliveries', query))).reverse()
      out.result(deliveries, () => formatTable(deliveries, columns(systemClock.now()), out.paint))
      if (deliveries.length === 0) out.note('No such delivery.')
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
