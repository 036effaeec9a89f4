import { isoTime } from '../../core/time.ts'
import { PLAN_LIMITS } from '../account/rate-limiter.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { FORMS, PLANS, type Settings } from '../state/live-settings.ts'
import { type Html, html } from './html.ts'
import { callForm, choice, field, layout, moment, section, table, toggle } from './layout.ts'

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
