import { STORAGES } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import { type ApiKey, type KeyScope, PERMISSIONS } from '../account/api-keys.ts'
import { PLAN_LIMITS } from '../account/rate-limiter.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { FORMS, PLANS, type Settings } from '../state/settings.ts'
import { type Content, foreign, foreignPlain, type Html, html } from './html.ts'
import { type Call, callForm, choice, choices, field, layout, moment, section, state, table, toggle } from './layout.ts'

type Switch = { [Name in keyof Settings]: Settings[Name] extends boolean ? Name : never }[keyof Settings]

const SWITCHES: Record<Switch, string> = {
  pagination: 'Lists carry pagination',
  strictServiceNames: 'Storage names must match the form',
  rateHeaders: 'A 429 carries X-RateLimit-*',
  retryAfter: 'A 429 carries Retry-After',
  rateHeadersOnSuccess: 'Successful replies carry X-RateLimit-*',
  deleteFolders: 'Folders can be deleted',
  hostileIds: 'New files get ids that break careless URLs',
  unknownFields: 'Replies carry unknown fields',
}

const CLOCKS = { real: 'running', manual: 'standing still until it is advanced' }

/** The plan, the limits, the settings, the clock, and a reset. */
export function planPage(parts: SandboxParts, url: string): Html {
  const settings = parts.settings.get()
  const rows = Object.entries(PLAN_LIMITS).map(([plan, limits]) => [
    plan === settings.plan ? html`<strong>${plan} (in force)</strong>` : plan,
    limits?.perMinute ?? 'no limit',
    limits?.burst ?? 'no limit',
  ])
  return layout('/account', [
    html`<p>Base URL <code>${url}</code></p>`,
    table(['Plan', 'Requests per minute', 'Burst'], rows, ''),
    section(
      'Settings',
      callForm({ method: 'PATCH', path: '/_sandbox/settings' }, 'Save settings', [
        choice('Plan', 'plan', PLANS, settings.plan),
        choice('Form of replies', 'form', FORMS, settings.form),
        choice('List endpoint', 'listEndpoint', ['both', 'primary', 'alternative'], settings.listEndpoint),
        html`<fieldset class="switches"><legend>Open points of the specification</legend>
${Object.entries(SWITCHES).map(([name, label]) => toggle(label, name, settings[name as Switch]))}</fieldset>
`,
      ]),
    ),
    section('Clock', [
      html`<p>${moment(isoTime(parts.clock.now()))} UTC, ${CLOCKS[parts.clock.mode]}</p>`,
      callForm(
        { method: 'POST', path: '/_sandbox/clock/advance' },
        'Advance',
        field('Forward by', 'by', { value: '16m', required: true }),
      ),
      callForm({ method: 'POST', path: '/_sandbox/clock/real' }, "Return to this machine's time"),
    ]),
    section('Reset', [
      html`<p>Resets everything to the first start. Keys and webhooks stay, and so do files in folders
that the sandbox did not make.</p>`,
      callForm(
        { method: 'POST', path: '/_sandbox/reset', confirm: 'Reset everything but keys and webhooks?' },
        'Reset the sandbox',
        html`<input type="hidden" name="keepAccess" value="true" data-kind="json">`,
      ),
    ]),
  ])
}

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
    method: 'DELETE',
    path: `/_sandbox/keys/${key.id}`,
    about: key.name,
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
