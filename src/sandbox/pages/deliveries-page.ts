import { subjectOf } from '../../core/incoming/event.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Attempt, Delivery } from '../webhooks/delivery.ts'
import { foreign, foreignJson } from './foreign-text.ts'
import { type Content, type Html, html } from './html.ts'
import { callForm, layout, moment, section, state, table } from './layout.ts'

const MAX_SHOWN = 100

/** The newest 100 deliveries, newest first; those of one webhook if `webhookId` is given. */
export function deliveriesPage(parts: SandboxParts, webhookId?: string): Html {
  const total = parts.deliveries.count({ webhookId })
  const shown = parts.deliveries.newest(MAX_SHOWN, { webhookId }).reverse()
  return layout('/account/deliveries', [
    total > shown.length && html`<p class="quiet small">The newest ${MAX_SHOWN} of ${total}.</p>`,
    table(
      ['Event', 'To', 'State', 'Attempts', 'Next', ''],
      shown.map((each) => deliveryRow(parts, each)),
      'There is no delivery yet.',
    ),
  ])
}

export function eventPage(parts: SandboxParts, id: string): Html {
  const event = parts.events.get(id)
  return layout('/account/deliveries', [
    event
      ? section(foreign(event.type), html`<pre>${foreignJson(JSON.parse(event.body), 2)}</pre>`)
      : html`<p class="empty">There is no such event.</p>`,
    table(
      ['Event', 'To', 'State', 'Attempts', 'Next', ''],
      parts.deliveries.list({ eventId: id }).map((each) => deliveryRow(parts, each)),
      'This event has no delivery.',
    ),
  ])
}

function deliveryRow({ events }: Pick<SandboxParts, 'events'>, delivery: Delivery): Content[] {
  const event = events.get(delivery.eventId)
  const subject = event && subjectOf(JSON.parse(event.body))
  return [
    html`<a href="/account/events/${delivery.eventId}">${foreign(delivery.type)}</a>
${subject && html`<span class="below">${event.service && html`${event.service}:`}${foreign(subject)}</span>`}`,
    foreign(delivery.url),
    [
      state(STATES[delivery.state], delivery.state),
      delivery.cause !== 'event' && html` <span class="below">${delivery.cause}</span>`,
    ],
    html`<ol>${delivery.attempts.map(attemptItem)}</ol>`,
    moment(delivery.nextAttemptAt),
    callForm(
      { method: 'POST', path: `/_sandbox/events/${delivery.eventId}/resend`, about: delivery.eventId },
      'Send again',
    ),
  ]
}

const STATES = { pending: 'waiting', sending: 'waiting', delivered: 'completed', failed: 'failed' } as const

function attemptItem({ at, status, error, durationMs }: Attempt): Html {
  return html`<li>${moment(at)}: ${status ?? foreign(error ?? '')} in ${durationMs} ms</li>`
}
