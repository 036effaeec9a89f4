import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { UpshotError } from '../../core/errors.ts'
import { isLoopback } from '../../core/service/account.ts'
import { type Duration, parseDuration } from '../../core/time.ts'

/** What `config/upshot.config.ts` may say. Secrets and addresses come from the environment, never from here. */
export interface ConfigFile {
  /** Folder of the workflow modules, from the project's root. Default `workflows`. */
  workflows?: string
  /** Runs at work at the same time. Default 100. */
  slots?: number
  /** How long a stop waits for steps at work. Default 10s. */
  drain?: Duration
  /** Where the service reaches the receiver, such as `https://hooks.example.com`; what prints an endpoint's address uses it. */
  publicUrl?: string
  receive?: {
    /** Largest body of a delivery. Default 1 MiB. */
    bodyBytes?: number
    /** Deliveries whose body is here and that wait for their commit before more are answered 503. Default 1,000. */
    inFlight?: number
    /** Bytes of all bodies that are here and not yet committed. Default 64 MiB. */
    bytesInFlight?: number
    /** Open connections; one more is closed at once. Default 5,000. */
    connections?: number
    /** Deliveries to one endpoint a second for long, and at once, before more are answered 503. Default 20,000 and 40,000. */
    endpointPerSecond?: number
    endpointBurst?: number
    /** The same for deliveries from one address. Behind a proxy all of them come from one. Default 20,000 and 40,000. */
    addressPerSecond?: number
    addressBurst?: number
  }
  /** How old things may get before they are removed, as durations; `forever` keeps them. An event stays known for ever. */
  retention?: {
    /** Runs that completed or were skipped, from their end on, with their steps and ticks. Default 30d. */
    runs?: Duration
    /** Runs that failed or were canceled. Default 90d. */
    failures?: Duration
    /** Ledger rows of refused deliveries. Default 7d. */
    refusals?: Duration
    /** The other rows of the ledger. Default 90d. */
    deliveries?: Duration
    /** Bodies of events that no unfinished run needs; without its body an event cannot be replayed. Default 90d. */
    payloads?: Duration
  }
}

const age = (fallback: string) =>
  z
    .union([z.number(), z.string()])
    .default(fallback)
    .transform((text, context) => {
      if (text === 'forever') return null
      try {
        return parseDuration(text)
      } catch {
        context.addIssue('must be a duration such as "30d", or "forever"')
        return z.NEVER
      }
    })
/** What a public address looks like. */
export const PUBLIC_URL_LOOKS_LIKE =
  'the https address that the service reaches the receiver at (http on this machine only), without query or login'

/** An address that paths are appended to, without a slash at its end. */
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
const perSecond = z.number().positive().max(1_000_000).default(20_000)
const burst = z.int().min(1).max(1_000_000).default(40_000)

const configFile = z.strictObject({
  workflows: z.string().min(1).default('workflows'),
  slots: z.int().min(1).max(10_000).default(100),
  drain: z.union([z.number(), z.string()]).default('10s'),
  publicUrl: publicUrl.nullable().default(null),
  receive: z
    .strictObject({
      bodyBytes: z.int().min(1_024).max(104_857_600).default(1_048_576),
      inFlight: z.int().min(1).max(100_000).default(1_000),
      bytesInFlight: z.int().min(1_048_576).max(17_179_869_184).default(67_108_864),
      connections: z.int().min(1).max(1_000_000).default(5_000),
      endpointPerSecond: perSecond,
      endpointBurst: burst,
      addressPerSecond: perSecond,
      addressBurst: burst,
    })
    .refine(({ bodyBytes, bytesInFlight }) => bodyBytes <= bytesInFlight, {
      path: ['bytesInFlight'],
      error: 'must be at least bodyBytes, or the largest body would never be taken',
    })
    .prefault({}),
  retention: z
    .strictObject({
      runs: age('30d'),
      failures: age('90d'),
      refusals: age('7d'),
      deliveries: age('90d'),
      payloads: age('90d'),
    })
    .prefault({}),
})

/** Checks nothing yet: it gives the file its types. */
export function defineConfig(config: ConfigFile): ConfigFile {
  return config
}

/** Every setting of the file, or its default. */
export type Settings = Omit<z.output<typeof configFile>, 'drain'> & { drainMs: number }

/** What the file exports, unchecked; an empty object where there is no file. */
export async function readConfigFile(path: string): Promise<unknown> {
  return existsSync(path) ? (await import(pathToFileURL(path).href)).default : {}
}

/** Reads the file where there is one; throws `invalid_config` that names it and every fault in it. */
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
  return { ...settings, drainMs: parseDuration(drain) }
}
