import type { ApiKey, KeyScope } from '../keys.ts'
import type { Service } from '../service.ts'
import { type Content, type Html, html } from './html.ts'
import { callForm, choice, field, layout, moment, table } from './layout.ts'

const SCOPES = ['read-write', 'read-only', 'admin'] as const

/** The API Keys tab: create with name and scope, view, edit, revoke. */
export function keysPage(service: Service): Html {
  return layout('/account/keys', [
    table(
      ['Name', 'Scope', 'Key', 'Created', 'Last used', 'State', ''],
      service.keys.list().map((key) => keyRow(key, service.clock.now())),
      'There is no key yet.',
    ),
    html`<h2>Create a key</h2>`,
    callForm({ method: 'POST', path: '/_sandbox/keys' }, 'Generate', [
      field('Name', 'name', { required: true }),
      choice('Scope', 'scope', SCOPES),
    ]),
    html`<h2>Create a key with a custom scope</h2>`,
    callForm({ method: 'POST', path: '/_sandbox/keys' }, 'Generate', [
      field('Name', 'name', { required: true }),
      field('Scope as JSON', 'scope', { value: '{"custom":["files:read"],"storages":["storage_a"]}', kind: 'json' }),
    ]),
  ])
}

/** One key, with the credential itself. */
export function keyPage(key: ApiKey): Html {
  return layout('/account/keys', [
    html`<h2>${key.name}</h2>
<p><code>${key.key}</code></p>
<p>Scope: ${describeScope(key.scope)}</p>`,
    callForm({ method: 'PATCH', path: `/_sandbox/keys/${key.id}` }, 'Save', [
      field('Name', 'name', { value: key.name, required: true }),
      field('Scope as JSON', 'scope', { value: JSON.stringify(key.scope), kind: 'json' }),
    ]),
    html`<p><a href="/account/keys">All keys</a></p>`,
  ])
}

function keyRow(key: ApiKey, now: number): Content[] {
  const hasExpired = key.expiresAt !== null && Date.parse(key.expiresAt) <= now
  const state = key.revokedAt ? 'revoked' : hasExpired ? 'expired' : 'active'
  const revoke = callForm({ method: 'DELETE', path: `/_sandbox/keys/${key.id}` }, 'Revoke')
  return [
    key.name,
    describeScope(key.scope),
    html`<a href="/account/keys/${key.id}">…${key.key.slice(-4)}</a>`,
    moment(key.createdAt),
    moment(key.lastUsedAt),
    state,
    state === 'active' && revoke,
  ]
}

function describeScope(scope: KeyScope): string {
  if (typeof scope === 'string') return scope
  return `custom: ${scope.custom.join(', ') || 'nothing'} on ${scope.storages.join(', ')}`
}
