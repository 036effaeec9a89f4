import { z } from 'zod'
import {
  ALERT_KINDS,
  type AlertChannel,
  type AlertKind,
  type AlertPlan,
  type AlertRule,
} from '../../core/alerts/alert-rule.ts'
import { isStrongSecret } from '../../core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../core/incoming/signature.ts'
import { isLoopback } from '../../core/service/account.ts'
import { durationSetting, readDuration } from './duration-setting.ts'
import type { Environment } from './environment.ts'

const name = z.string().regex(/^[\w.:-]{1,60}$/, 'must be of letters, digits, ".", ":", "-" and "_", at most 60')

/** Everybody who knows the address of a web hook can post to it, so none stands in the file. */
const variable = z
  .string()
  .regex(/^\$[A-Za-z_]\w*$/, 'is secret: write "$" and the name of the variable that holds it, such as "$OPS_HOOK"')

const address = z.email()
const channel = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('webhook'), url: variable, secret: variable }),
  z.strictObject({ kind: z.literal('slack'), url: variable }),
  z.strictObject({ kind: z.literal('email'), smtp: variable, from: z.string().min(3), to: z.array(address).min(1) }),
])

/** Bounds above which a kind is told, and for how long it has to hold. */
const DEFAULTS: Partial<Record<AlertKind, { over?: number; for?: string }>> = {
  'endpoint.suspect': { over: 4 },
  'endpoint.silent': { for: '1h' },
  'queue.age': { over: 60_000, for: '5m' },
  'disk.low': { over: 0.9 },
}

const rule = z
  .strictObject({
    name: name.optional(),
    when: z.enum(Object.keys(ALERT_KINDS) as [AlertKind, ...AlertKind[]]),
    workflow: z.string().min(1).optional(),
    over: z.union([z.number().nonnegative(), z.string()]).optional(),
    for: z.unknown().optional(),
    every: durationSetting('15m'),
    to: z.array(z.string()).min(1),
  })
  .transform(({ name: given, when, workflow, over, for: holds, every, to }, context): AlertRule => {
    const usual = DEFAULTS[when] ?? {}
    const fault = 'must be a duration such as "5m"'
    return {
      name: given ?? (workflow === undefined ? when : `${when}:${workflow}`),
      when,
      workflow: workflow ?? null,
      over: readBound(when, over ?? usual.over ?? 0, context),
      forMs: readDuration(holds ?? usual.for ?? 0, context, fault),
      everyMs: Math.max(MIN_EVERY_MS, every),
      to,
    }
  })

/** Rules look every 10 s. */
const MIN_EVERY_MS = 60_000

function readBound(when: AlertKind, over: number | string, context: z.RefinementCtx): number {
  if (when === 'queue.age') return readDuration(over, context, 'must be a duration such as "60s"')
  if (when === 'disk.low' && !(Number(over) <= 1)) context.addIssue('must be a share of the disk, such as 0.9')
  else if (typeof over === 'string') context.addIssue('must be a number')
  return Number(over)
}

/** The part of the project file about alerts. */
export const alertConfig = z
  .strictObject({ channels: z.record(name, channel).default({}), rules: z.array(rule).default([]) })
  .superRefine(({ channels, rules }, context) => {
    const names = new Set<string>()
    for (const [index, each] of rules.entries()) {
      const unknown = each.to.find((to) => !Object.hasOwn(channels, to))
      if (unknown !== undefined)
        context.addIssue({ code: 'custom', path: ['rules', index, 'to'], message: `names no channel "${unknown}"` })
      if (names.has(each.name)) {
        context.addIssue({
          code: 'custom',
          path: ['rules', index, 'name'],
          message: `"${each.name}" is taken: give the rule a name`,
        })
      }
      names.add(each.name)
    }
  })
  .prefault({})

type AlertConfig = z.output<typeof alertConfig>

/** The plan with the values of its variables. Appends a sentence to `faults` for each bad one. */
export function readAlerts({ channels, rules }: AlertConfig, environment: Environment, faults: string[]): AlertPlan {
  const used = new Set(rules.flatMap(({ to }) => to))
  const read: ReadVariable = (reference, looksLike, isFit) => {
    const name = reference.slice(1)
    const value = environment[name] || undefined
    if (value !== undefined && isFit(value)) return value
    faults.push(`${name} ${value === undefined ? 'is missing' : 'is not valid'}: it should be ${looksLike}.`)
    return ''
  }
  const resolved = Object.entries(channels)
    .filter(([name]) => used.has(name))
    .map(([name, given]) => [name, resolveChannel(given, `of the alert channel "${name}"`, read)])
  return { rules, channels: Object.fromEntries(resolved) }
}

export function alertVariables({ channels }: AlertConfig): string[] {
  return Object.values(channels).flatMap((channel) => {
    if (channel.kind === 'email') return [channel.smtp.slice(1)]
    return [channel.url.slice(1), ...(channel.kind === 'webhook' ? [channel.secret.slice(1)] : [])]
  })
}

type ReadVariable = (reference: string, looksLike: string, isFit: (value: string) => boolean) => string

function resolveChannel(given: z.output<typeof channel>, use: string, read: ReadVariable): AlertChannel {
  switch (given.kind) {
    case 'webhook': {
      const url = read(given.url, `the https address ${use}`, isFitHook)
      const secret = read(given.secret, `the secret ${use}, as "openssl rand -base64 32" prints it`, isFitSecret)
      return { kind: 'webhook', url, secret }
    }
    case 'slack':
      return { kind: 'slack', url: read(given.url, `the https address ${use}`, isFitHook) }
    case 'email':
      return { ...given, smtp: read(given.smtp, `the mail server ${use}, as smtps://user:password@host`, isFitServer) }
  }
}

function isFitSecret(secret: string): boolean {
  return isStrongSecret(secret, SCHEME_PRESETS['standard-webhooks'])
}

function isFitHook(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Without TLS a password would be readable, so that is for this machine alone. */
function isFitServer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, searchParams } = new URL(text)
  const isLocal = protocol === 'smtp:' && (isLoopback(hostname) || searchParams.get('requireTLS') === 'true')
  return protocol === 'smtps:' || isLocal
}
