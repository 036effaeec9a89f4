import { existsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { z } from 'zod'
import { ACCESS_ROLES } from '../../core/access/role.ts'
import { MAX_LOAD_MS } from '../../core/blockage.ts'
import { UpshotError } from '../../core/errors.ts'
import { listIssues } from '../../core/json.ts'
import { DEFAULT_MAX_STEPS, MAX_STEPS } from '../../core/runs/step.ts'
import { DEFAULT_GUARD } from '../../core/safety/guard.ts'
import { guardSchema } from '../../core/safety/guard-schema.ts'
import { DEFAULT_ACCOUNT, isLoopback } from '../../core/service/account.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import type { SweepPlan } from '../../core/service/sweep/sweep-plan.ts'
import { alertConfig } from './alert-config.ts'
import { durationSetting, readDuration } from './duration-setting.ts'
import { importWithin } from './import-within.ts'

/** The app prunes once an hour. A shorter age is a slip, such as 30, which is milliseconds. */
const MIN_AGE_MS = 3_600_000

const age = (fallback: string) =>
  z
    .unknown()
    .default(fallback)
    .transform((given, context) =>
      given === 'forever' ? null : readDuration(given, context, 'must be a duration such as "30d", or "forever"'),
    )
    .refine((ms) => ms === null || ms >= MIN_AGE_MS, {
      error: 'must be at least "1h": less would keep nothing. A number is in milliseconds',
      abort: true,
    })

export const PUBLIC_URL_LOOKS_LIKE =
  'the https address at which the service reaches the receiver (http on this machine only), without query or login'

/** Parses to the address without a slash at its end: paths are appended to it. */
export const publicUrl = z
  .url({ protocol: /^https?$/, error: `should be ${PUBLIC_URL_LOOKS_LIKE}`, abort: true })
  .refine(isFitPublicUrl, `should be ${PUBLIC_URL_LOOKS_LIKE}`)
  .transform((text) => {
    const { origin, pathname } = new URL(text)
    return origin + pathname.replace(/\/+$/, '')
  })

function isFitPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, search, hash, username, password } = new URL(text)
  return isPrivate({ protocol, hostname }) && `${search}${hash}${username}${password}` === ''
}

/** Longer than a real event may come late and than the longest grace, each at most 30 days. */
const MIN_FILES_MS = 60 * 24 * 60 * 60_000

const perSecond = z.number().positive().max(1_000_000).default(20_000)
const burst = z.int().min(1).max(1_000_000).default(40_000)

const requests = z.int().min(1).max(1_000_000)
/** For every account, or by account. */
const filesBurst = z
  .union([requests, z.record(z.string(), requests)])
  .nullable()
  .default(null)

/** The engine's pulse is looked at four times in this time, beside the work of a busy machine. */
const MIN_HANG_MS = 1_000

const role = z.enum(ACCESS_ROLES)

const adminUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => URL.canParse(text) && isFit(new URL(text)), {
    error: 'must be an https address, or http with a host on this machine, without path, query or login',
  })
  .transform((text) => new URL(text).origin)

function isFit({ protocol, hostname, pathname, search, hash, username }: URL): boolean {
  return isPrivate({ protocol, hostname }) && pathname === '/' && `${search}${hash}${username}` === ''
}

function isPrivate({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  return protocol === 'https:' || isLoopback(hostname)
}

/** The part of the project file about the admin server. */
const adminConfig = z
  .strictObject({
    host: z.string().min(1).default('127.0.0.1'),
    url: adminUrl.nullable().default(null),
    basePath: z
      .string()
      .regex(/^(\/[\w.-]+)+$/, 'must be a path such as "/ops", without a slash at its end')
      .or(z.literal(''))
      .default(''),
    metrics: z.enum(['token', 'open']).default('token'),
    proxy: z
      .strictObject({
        header: z
          .string()
          .regex(/^[\w-]+$/)
          .transform((name) => name.toLowerCase()),
        from: z.array(z.string().min(1)).min(1),
        roles: z.record(z.string(), role),
      })
      .nullable()
      .default(null),
    oidc: z
      .strictObject({
        issuer: z.url({ protocol: /^https?$/ }).refine((text) => isPrivate(new URL(text)), {
          error: 'must be an https address, or http with a host on this machine',
        }),
        clientId: z.string().min(1),
        scope: z.string().min(1).default('openid profile email'),
        groupsClaim: z.string().min(1).default('groups'),
        roles: z.record(z.string(), role),
      })
      .nullable()
      .default(null),
  })
  .refine(({ host, url }) => url !== null || host === 'localhost' || isLoopback(host) || host === '::1', {
    path: ['url'],
    error: 'is needed where host is not on this machine: the address at which browsers reach the admin server',
  })
  .prefault({})

/** The shortest time from one sweep to the next. */
const MIN_EVERY_MS = 60_000

/** A file that is gone is known for longer: see `retention.files`. */
const MAX_GRACE_MS = 30 * 24 * 60 * 60_000

/** A number is a share as in `0.1`, text one as in `10%`. */
const budget = z
  .union([z.number(), z.string().regex(/^\d+(\.\d+)?%$/, 'must be a share such as "10%"')])
  .default('10%')
  .transform((given) => (typeof given === 'number' ? given : Number.parseFloat(given) / 100))
  .refine((share) => share >= 0.001 && share <= 1, 'must be a share from "0.1%" to "100%"')

const sweep = z.strictObject({
  path: z
    .string()
    .regex(/^\/(.*[^/])?$/, 'must begin with "/" and not end with one')
    .default('/'),
  recursive: z.boolean().default(true),
  every: durationSetting('6h').refine((ms) => ms >= MIN_EVERY_MS, 'must be at least 1m'),
  budget,
  grace: durationSetting('8h').refine((ms) => ms <= MAX_GRACE_MS, 'must be at most 30d'),
  repair: z.enum(['report', 'events']).default('report'),
})

const NAME = new RegExp(`^(?:[\\w.-]{1,100}/)?(?:${STORAGES.join('|')})$`)

/** Sweeps by storage, or by account and storage. */
const reconcileConfig = z
  .record(
    z.string().regex(NAME, `must be ${STORAGES.join(', ')}, or one of an account such as "acme/storage_a"`),
    sweep,
  )
  .default({})
  .transform((plans) => Object.entries(plans).map(([name, plan]) => asPlan(name, plan)))

function asPlan(name: string, { every, grace, ...rest }: z.output<typeof sweep>): SweepPlan {
  const [storage = '', account = DEFAULT_ACCOUNT] = name.split('/').toReversed()
  return { account, storage: storage as StorageName, ...rest, everyMs: every, graceMs: grace }
}

/** Bytes of the container, or of the machine where nothing limits it. */
function readMemory(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
}

const configFile = z.strictObject({
  workflows: z.string().min(1).default('workflows'),
  slots: z.int().min(1).max(10_000).default(100),
  drain: durationSetting('10s'),
  engine: z
    .strictObject({
      hang: durationSetting('10s').refine((ms) => ms >= MIN_HANG_MS, 'must be at least 1s'),
      heapBytes: z
        .int()
        .min(67_108_864)
        .max(1_099_511_627_776)
        .default(() => Math.ceil(Math.min(1_073_741_824, readMemory() / 2))),
      memoryBytes: z
        .int()
        .min(134_217_728)
        .max(1_125_899_906_842_624)
        .default(() => Math.ceil(readMemory() * 0.9)),
    })
    .prefault({})
    .transform(({ hang, ...rest }) => ({ ...rest, hangMs: hang })),
  limits: z.strictObject({ steps: z.int().min(1).max(MAX_STEPS).default(DEFAULT_MAX_STEPS) }).prefault({}),
  publicUrl: publicUrl.nullable().default(null),
  receive: z
    .strictObject({
      bodyBytes: z.int().min(1_024).max(104_857_600).default(1_048_576),
      inFlight: z.int().min(1).max(100_000).default(1_000),
      bytesInFlight: z.int().min(1_048_576).max(17_179_869_184).default(67_108_864),
      connections: z.int().min(1).max(1_000_000).default(5_000),
      addressShare: z.number().min(0.01).max(1).default(0.5),
      bodyBytesPerSecond: z.int().min(1).max(1_048_576).default(4_096),
      endpointPerSecond: perSecond,
      endpointBurst: burst,
      addressPerSecond: perSecond,
      addressBurst: burst,
    })
    .refine(({ bodyBytes, bytesInFlight }) => bodyBytes <= bytesInFlight, {
      path: ['bytesInFlight'],
      error: 'must be at least bodyBytes, or the largest body would never fit',
    })
    .prefault({}),
  files: z.strictObject({ burst: filesBurst }).prefault({}),
  admin: adminConfig,
  alerts: alertConfig,
  reconcile: reconcileConfig,
  retention: z
    .strictObject({
      runs: age('30d'),
      failures: age('90d'),
      refusals: age('7d'),
      deliveries: age('90d'),
      payloads: age('90d'),
      audit: age('365d'),
      effects: age('forever'),
      files: age('90d').refine((ms) => ms === null || ms >= MIN_FILES_MS, 'must be at least 60d'),
    })
    .prefault({}),
  guard: guardSchema(DEFAULT_GUARD),
  ledger: z.enum(['targeted', 'all']).default('targeted'),
  outside: z
    .strictObject({ keys: z.array(z.string()).default([]), processes: z.array(z.string()).default([]) })
    .prefault({}),
  approvals: z
    .strictObject({
      expire: durationSetting('7d'),
      needs: z.int().min(1).max(10).default(1),
    })
    .prefault({}),
})

/** The settings of the project file, with defaults. `null` as an age keeps rows for ever. */
export type Settings = Omit<z.output<typeof configFile>, 'drain'> & { drainMs: number }

/** The default export, unchecked; an empty object where there is no file. */
export async function readConfigFile(path: string): Promise<unknown> {
  return existsSync(path) ? (await importWithin<{ default: unknown }>(path, MAX_LOAD_MS)).default : {}
}

/**
 * Reads the file, or takes the defaults where there is none. Throws one `invalid_config` that lists
 * every fault of the file.
 */
export async function loadConfigFile(path: string): Promise<Settings> {
  const content = await readConfigFile(path)
  if (content === undefined) {
    const fix = 'Write "export default defineConfig({ … })".'
    throw new UpshotError('invalid_config', `${path} has no default export.`, { fix })
  }
  const parsed = configFile.safeParse(content)
  if (!parsed.success) {
    const faults = listIssues(parsed.error.issues).map(
      (issue) => `  ${issue.path.join('.') || '(default export)'}: ${issue.message}`,
    )
    throw new UpshotError('invalid_config', `${path} is not valid:\n${faults.join('\n')}`)
  }
  const { drain, ...settings } = parsed.data
  return { ...settings, drainMs: drain }
}
