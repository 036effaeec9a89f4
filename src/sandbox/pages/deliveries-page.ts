import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Attempt, Delivery } from '../webhooks/delivery.ts'
import { type Content, type Html, html } from './html.ts'
import { callForm, layout, moment, state, table } from './layout.ts'

const MAX_SHOWN = 100

/** The newest 100 deliveries, newest first; those of one webhook if `webhookId` is given. */
export function deliveriesPage(parts: SandboxParts, webhookId?: string): Html {
  const total = parts.deliveries.count({ webhookId })
  const shown = parts.deliveries.newest(MAX_SHOWN, { webhookId }).reverse()
  return layout('/account/deliveries', [
    total > shown.length && html`<p class="note">The newest ${MAX_SHOWN} of ${total}.</p>`,
    table(
      ['Event', 'Address', 'State', 'Cause', 'Attempts', 'Next', ''],
      shown.map(deliveryRow),
      'There is no delivery yet.',
    ),
  ])
}

/** An event as it was sent, with its deliveries. */
export function eventPage(parts: SandboxParts, id: string): Html {
  const event = parts.events.get(id)
  const body = event ? JSON.stringify(JSON.parse(event.body), null, 2) : ''
  return layout('/account/deliveries', [
    event
      ? html`<section><h2>${event.type}</h2><pre>${body}</pre></section>`
      : html`<p class="empty">There is no such event.</p>`,
    table(
      ['Event', 'Address', 'State', 'Cause', 'Attempts', 'Next', ''],
      parts.deliveries.list({ eventId: id }).map(deliveryRow),
      'This event has no delivery.',
    ),
  ])
}

function deliveryRow(delivery: Delivery): Content[] {
  return [
    html`<a href="/account/events/${delivery.eventId}">${delivery.type}</a>`,
    delivery.url,
    state(STATES[delivery.state], delivery.state),
    delivery.cause,
    html`<ol>${delivery.attempts.map(attemptItem)}</ol>`,
    moment(delivery.nextAttemptAt),
    callForm(
      { method: 'POST', path: `/_sandbox/events/${delivery.eventId}/resend`, about: delivery.eventId },
      'Send again',
    ),
  ]
}

const STATES = { pending: 'wait', sending: 'wait', delivered: 'good', failed: 'bad' } as const

function attemptItem(attempt: Attempt): Html {
  return html`<li>${moment(attempt.at)}: ${attempt.status ?? attempt.error ?? ''} in ${attempt.durationMs} ms</li>`
}
