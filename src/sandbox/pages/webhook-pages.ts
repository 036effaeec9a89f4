import { subjectOf } from '../../core/incoming/event.ts'
import { SCHEME_PRESETS } from '../../core/incoming/signature.ts'
import { STORAGES } from '../../core/service/storage.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Attempt, Delivery } from '../webhooks/delivery.ts'
import type { Webhook } from '../webhooks/webhooks.ts'
import { type Content, foreign, foreignJson, foreignPlain, type Html, html } from './html.ts'
import { callForm, choice, choices, field, jsonField, layout, moment, section, state, table } from './layout.ts'

/** The webhooks, and forms to register one and to emit an event. */
export function webhooksPage(parts: SandboxParts): Html {
  return layout('/account/webhooks', [
    table(
      ['Address', 'Events', 'Storages', 'Signature', 'Created', 'State', ''],
      parts.webhooks.list().map(webhookRow),
      'There is no webhook yet.',
    ),
    section(
      'Register a webhook',
      callForm({ method: 'POST', path: '/_sandbox/webhooks' }, 'Register', [
        field('Address', 'url', { value: 'http://127.0.0.1:4700/hooks/', required: true, wide: true }),
        field('Events, separated by commas', 'events', { value: '*', kind: 'list' }),
        choices('Storages', 'storages', STORAGES, STORAGES),
        field('Secret', 'secret', { required: true }),
        choice('Signature scheme', 'scheme', Object.keys(SCHEME_PRESETS)),
      ]),
    ),
    section(
      'Emit an event',
      callForm({ method: 'POST', path: '/_sandbox/events' }, 'Emit', [
        field('Type', 'type', { value: 'file.created', required: true }),
        jsonField('Data as JSON', 'data', '{}'),
      ]),
    ),
  ])
}

function webhookRow(webhook: Webhook): Content[] {
  const path = `/_sandbox/webhooks/${webhook.id}`
  const { url: about, enabled } = webhook
  return [
    foreign(webhook.url),
    foreign(webhook.events.join(', ')),
    webhook.storages?.join(', ') ?? 'all',
    foreign(`${webhook.scheme.header}, ${webhook.scheme.algorithm}, ${webhook.scheme.encoding}`),
    moment(webhook.createdAt),
    state(webhook.enabled ? 'completed' : 'waiting', webhook.enabled ? 'on' : 'off'),
    html`<a class="button" href="/account/deliveries?webhook=${webhook.id}">Deliveries</a>
${callForm({ method: 'PATCH', path, about }, enabled ? 'Switch off' : 'Switch on', enabledField(!enabled))}
${callForm({ method: 'DELETE', path, about, confirm: `Remove the webhook ${foreignPlain(about)}?` }, 'Remove')}`,
  ]
}

function enabledField(enabled: boolean): Html {
  return html`<input type="hidden" name="enabled" value="${String(enabled)}" data-kind="json">`
}

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
      ? section(foreign(event.type), html`<pre tabindex="0">${foreignJson(JSON.parse(event.body), 2)}</pre>`)
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
