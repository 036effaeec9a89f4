import { type Command, Option } from '@commander-js/extra-typings'
import { resolveAmong } from '../../../admin/queries/resolve-id.ts'
import { UpshotError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time.ts'
import type { Delivery, SandboxEvent } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseSince } from '../../input/parse-option.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { atSandbox, findSandbox, isRehearsal, type SandboxControl, withQuery } from './sandbox-control.ts'
import { findWebhook } from './webhook.ts'

export function list(command: Command, { out, project }: Cli): void {
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
      out.result(deliveries, () => formatTable(deliveries, listColumns(systemClock.now()), out))
      if (deliveries.length === 0) out.note('No delivery matches.')
    })
}

function listColumns(now: number): Column<Delivery>[] {
  return [
    { title: 'EVENT', value: ({ eventId }) => eventId },
    { title: 'TYPE', value: ({ type }) => type, most: 40 },
    { title: 'STATE', value: ({ state }) => state, style: ({ state }) => STYLES[state] },
    { title: 'CAUSE', value: ({ cause }) => cause },
    { title: 'TRIES', value: ({ attempts }) => attempts.length, align: 'right' },
    { title: 'ANSWER', value: lastAnswer, most: 40 },
    { title: 'NEXT', value: ({ nextAttemptAt }) => formatMoment(nextAttemptAt, now) },
    { title: 'URL', value: ({ url }) => url },
  ]
}

const STYLES = { pending: 'yellow', sending: 'yellow', delivered: 'green', failed: 'red' } as const

function lastAnswer({ attempts }: Delivery): string | number | null {
  const last = attempts.at(-1)
  return last?.status ?? last?.error ?? null
}

export function resend(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<event>', 'id of the event, evt_…, or its beginning, from "upshot sandbox deliveries list"')
    .action(async (given, choice) => {
      const sandbox = await findSandbox(project, choice)
      const id = await findSandboxEvent(sandbox, given)
      if (isRehearsal(out, `send ${id} to every webhook that subscribes to it`)) return
      const queued = await sandbox.post<Delivery[]>(`/events/${encodeURIComponent(id)}/resend`)
      if (queued.length === 0) {
        throw new UpshotError('not_found', `No webhook subscribes to ${id}.`, {
          fix: 'Add one with "upshot sandbox webhook add <url>".',
        })
      }
      out.result(queued, () => queued.map(({ url }) => `Queued ${id} for ${url}.`))
      out.note(`See the result: upshot sandbox deliveries list --event ${id}`)
    })
}

export function backfill(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('<webhook>', 'id or URL of the webhook, or name of an endpoint of the project')
    .option(
      '--since <time>',
      'only events since then: a duration before now, such as 24h, or an ISO 8601 time (default: all)',
      parseSince,
    )
    .action(async (name, { since: asked, ...choice }) => {
      const since = asked?.(systemClock.now()) ?? 0
      const sandbox = await findSandbox(project, choice)
      const { id, url } = await findWebhook({ sandbox, project }, name)
      const from = since === 0 ? '' : ` since ${new Date(since).toISOString()}`
      if (isRehearsal(out, `send ${url} every event that it missed${from}`)) return
      const { queued } = await sandbox.post<{ queued: number }>(`/webhooks/${id}/backfill`, { since })
      out.result({ webhook: id, url, queued }, () => [`Queued ${queued} events for ${url}.`])
    })
}

/** The id of the only event that begins so; `text` itself where none does. */
async function findSandboxEvent(sandbox: SandboxControl, text: string): Promise<string> {
  const events = await sandbox.get<SandboxEvent[]>('/events')
  return resolveAmong(text, events)?.id ?? text
}
