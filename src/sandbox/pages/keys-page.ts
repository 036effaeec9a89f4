import { STORAGES } from '../../core/service/storage.ts'
import { type ApiKey, type KeyScope, PERMISSIONS } from '../account/api-keys.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { type Content, foreign, foreignPlain, type Html, html } from './html.ts'
import { type Call, callForm, choice, choices, field, layout, moment, section, state, table } from './layout.ts'

const SCOPES = ['read-write', 'read-only', 'admin', 'custom'] as const

/** The keys: create, view, edit, revoke. */
export function keysPage(parts: SandboxParts): Html {
  return layout('/account/keys', [
    table(
      ['Name', 'Scope', 'Key', 'Created', 'Last used', 'State', ''],
      parts.keys.list().map((key) => keyRow(key, parts.clock.now())),
      'There is no key yet.',
    ),
    section(
      'Create a key',
      callForm({ method: 'POST', path: '/_sandbox/keys' }, 'Generate', [
        field('Name', 'name', { required: true }),
        scopeFields('read-write'),
      ]),
    ),
  ])
}

export function keyPage(key: ApiKey): Html {
  return layout('/account/keys', [
    section(foreign(key.name), [
      html`<p><code>${key.key}</code></p>
<p>Scope: ${describeScope(key.scope)}</p>`,
      callForm({ method: 'PATCH', path: `/_sandbox/keys/${key.id}` }, 'Save', [
        field('Name', 'name', { value: key.name, required: true }),
        scopeFields(key.scope),
      ]),
    ]),
    html`<p><a href="/account/keys">All keys</a></p>`,
  ])
}

/** Fields of a scope. Only a custom scope uses the boxes. */
function scopeFields(scope: KeyScope): Content {
  const { custom, storages } = typeof scope === 'string' ? { custom: ['files:read'], storages: [...STORAGES] } : scope
  return [
    choice('Scope', 'scope', SCOPES, typeof scope === 'string' ? scope : 'custom'),
    choices('Custom: operations', 'custom', PERMISSIONS, custom),
    choices('Custom: storages', 'storages', STORAGES, storages),
  ]
}

function keyRow(key: ApiKey, now: number): Content[] {
  const hasExpired = key.expiresAt !== null && Date.parse(key.expiresAt) <= now
  const end = key.revokedAt ? 'revoked' : hasExpired ? 'expired' : null
  const revoke: Call = {
    ...{ method: 'DELETE', path: `/_sandbox/keys/${key.id}`, about: key.name },
    confirm: `Revoke the key "${foreignPlain(key.name)}" for good?`,
  }
  return [
    foreign(key.name),
    describeScope(key.scope),
    html`<a href="/account/keys/${key.id}">…${key.key.slice(-4)}</a>`,
    moment(key.createdAt),
    moment(key.lastUsedAt),
    state(end === null ? 'completed' : 'idle', end ?? 'active'),
    end === null && callForm(revoke, 'Revoke'),
  ]
}

function describeScope(scope: KeyScope): string {
  if (typeof scope === 'string') return scope
  return `custom: ${scope.custom.join(', ') || 'nothing'} on ${scope.storages.join(', ')}`
}
