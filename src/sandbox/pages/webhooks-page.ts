import { SCHEME_PRESETS } from '../../core/incoming/signature.ts'
import { STORAGES } from '../../core/service/storage.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Webhook } from '../webhooks/webhooks.ts'
import { foreign, foreignPlain } from './foreign-text.ts'
import { type Content, type Html, html } from './html.ts'
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
    html`<a href="/account/deliveries?webhook=${webhook.id}">Deliveries</a>
${callForm({ method: 'PATCH', path, about }, enabled ? 'Switch off' : 'Switch on', enabledField(!enabled))}
${callForm({ method: 'DELETE', path, about, confirm: `Remove the webhook ${foreignPlain(about)}?` }, 'Remove')}`,
  ]
}

function enabledField(enabled: boolean): Html {
  return html`<input type="hidden" name="enabled" value="${String(enabled)}" data-kind="json">`
}
