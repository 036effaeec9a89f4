import { existsSync } from 'node:fs'
import { z } from 'zod'
import { MAX_LOAD_MS } from '../../core/blockage.ts'
import { UpshotError } from '../../core/errors.ts'
import { DEFAULT_MAX_STEPS, MAX_STEPS } from '../../core/runs/step.ts'
import { DEFAULT_GUARD } from '../../core/safety/guard.ts'
import { guardSchema } from '../../core/safety/guard-schema.ts'
import { isLoopback } from '../../core/service/account.ts'
import { adminConfig } from './admin-config.ts'
import { alertConfig } from './alert-config.ts'
import { durationSetting, readDuration } from './duration-setting.ts'
import { importWithin } from './import-within.ts'
import { reconcileConfig } from './reconcile-config.ts'

const age = (fallback: string) =>
  z
    .unknown()
    .default(fallback)
    .transform((given, context) =>
      given === 'forever' ? null : readDuration(given, context, 'must be a duration such as "30d", or "forever"'),
    )

export const PUBLIC_URL_LOOKS_LIKE =
  'the https address at which the service reaches the receiver (http on this machine only), without query or login'

/** Parses to the address without a slash at its end: paths are appended to it. */
export const publicUrl = z
  .url({ protocol: /^https?$/, error: `should be ${PUBLIC_URL_LOOKS_LIKE}` })
  .refine(isFitPublicUrl, `should be ${PUBLIC_URL_LOOKS_LIKE}`)
  .transform((text) => {
    const { origin, pathname } = new URL(text)
    return origin + pathname.replace(/\/+$/, '')
  })

function isFitPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, search, hash, username, password } = new URL(text)
  return (protocol === 'https:' || isLoopback(hostname)) && `${search}${hash}${username}${password}` === ''
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

const configFile = z.strictObject({
  workflows: z.string().min(1).default('workflows'),
  slots: z.int().min(1).max(10_000).default(100),
  drain: durationSetting('10s'),
  engine: z
    .strictObject({
      hang: durationSetting('10s').refine((ms) => ms >= MIN_HANG_MS, 'must be at least 1s'),
      heapBytes: z.int().min(67_108_864).max(1_099_511_627_776).default(1_073_741_824),
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
  const parsed = configFile.safeParse(content)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `  ${issue.path.join('.') || '(default export)'}: ${issue.message}`,
    )
    throw new UpshotError('invalid_config', `${path} is not valid:\n${faults.join('\n')}`)
  }
  const { drain, ...settings } = parsed.data
  return { ...settings, drainMs: drain }
}
