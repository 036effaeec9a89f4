import { Option } from '@commander-js/extra-typings'
import { resolveAmong } from '../../../admin/queries/resolve-id.ts'
import { UpshotError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time.ts'
import type { Delivery, SandboxEvent } from '../../../sandbox/index.ts'
import { countUpTo, parseSince } from '../../input/parse-option.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import type { Column } from '../../terminal/table.ts'
import { isRehearsal, sandboxCommand, showRows } from './sandbox-command.ts'
import { type SandboxControl, withQuery } from './sandbox-control.ts'
import { findWebhook, takeWebhook } from './webhook.ts'

export const list = sandboxCommand(
  (command) =>
    command
      .option('--limit <n>', 'maximum number of deliveries, 1 to 10000', countUpTo(10_000), 20)
      .option('--type <type>', 'only events of this exact type, such as file.created')
      .option('--event <id>', 'only the event with this id, evt_…, or its beginning')
      .option('--webhook <webhook>', 'only to this webhook: its id or URL, or the name of an endpoint')
      .addOption(new Option('--state <state>', 'only deliveries with this state').choices(STATES)),
  async (at, { limit, type, event, webhook, state }) => {
    const webhookId = webhook === undefined ? undefined : (await findWebhook(at, webhook)).id
    const eventId = event === undefined ? undefined : await findSandboxEvent(at.sandbox, event)
    const query = { limit, type, eventId, webhookId, state }
    const deliveries = (await at.sandbox.get<Delivery[]>(withQuery('/deliveries', query))).reverse()
    showRows(at.out, deliveries, LIST_COLUMNS, 'No delivery matches.')
  },
)

const LIST_COLUMNS: Column<Delivery>[] = [
  { title: 'EVENT', value: ({ eventId }) => eventId },
  { title: 'TYPE', value: ({ type }) => type, most: 40 },
  { title: 'STATE', value: ({ state }) => state, style: ({ state }) => STYLES[state] },
  { title: 'CAUSE', value: ({ cause }) => cause },
  { title: 'TRIES', value: ({ attempts }) => attempts.length, align: 'right' },
  { title: 'ANSWER', value: lastAnswer, most: 40 },
  { title: 'NEXT', value: ({ nextAttemptAt }) => formatMoment(nextAttemptAt) },
  { title: 'URL', value: ({ url }) => url },
]

const STYLES = { pending: 'yellow', sending: 'yellow', delivered: 'green', failed: 'red' } as const
const STATES = Object.keys(STYLES)

function lastAnswer({ attempts }: Delivery): string | number | null {
  const last = attempts.at(-1)
  return last?.status ?? last?.error ?? null
}

export const resend = sandboxCommand(
  (command) =>
    command.argument('<event>', 'id of the event, evt_…, or its beginning, from "upshot sandbox deliveries list"'),
  async ({ out, sandbox }, _, given) => {
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
  },
)

export const backfill = sandboxCommand(
  (command) =>
    takeWebhook(command).option(
      '--since <time>',
      'only events since then: a duration before now, such as 24h, or an ISO 8601 time (default: all)',
      parseSince,
    ),
  async (at, { since: asked }, name) => {
    const since = asked?.(systemClock.now()) ?? 0
    const { id, url } = await findWebhook(at, name)
    const from = since === 0 ? '' : ` since ${new Date(since).toISOString()}`
    if (isRehearsal(at.out, `send ${url} every event that it missed${from}`)) return
    const { queued } = await at.sandbox.post<{ queued: number }>(`/webhooks/${id}/backfill`, { since })
    at.out.result({ webhook: id, url, queued }, () => [`Queued ${queued} events for ${url}.`])
  },
)

/** The id of the only event that begins so; `text` itself where none does. */
async function findSandboxEvent(sandbox: SandboxControl, text: string): Promise<string> {
  const events = await sandbox.get<SandboxEvent[]>('/events')
  return resolveAmong(text, events)?.id ?? text
}
