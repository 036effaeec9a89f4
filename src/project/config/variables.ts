import { isIP } from 'node:net'
import { z } from 'zod'
import { isStrongSecret } from '../../core/incoming/endpoint.ts'
import { EFFECTS_MODES } from '../../core/safety/stop.ts'
import { decideKeyFault, type KeyFault, type Plan } from '../../core/service/account.ts'
import type { StorageName } from '../../core/service/storage.ts'
import { PUBLIC_URL_LOOKS_LIKE, publicUrl } from './config-file.ts'
import { DATABASE } from './database-config.ts'
import { type Environment, TELLS_PARENT } from './environment.ts'
import { TRACES } from './trace-config.ts'

/** The service that sends the events and answers the calls. */
export type ServiceConfig =
  /** The stand-in on this machine, started with the app. */
  | { kind: 'sandbox' }
  | {
      kind: 'real'
      baseUrl: string
      apiKey: string
      /** Tried when `apiKey` is refused; null outside a rotation. */
      fallbackKey: string | null
      webhookSecret: string
      /** Null: the endpoint keeps its header, which is `X-Service-Signature` when it is new. */
      signatureHeader: string | null
      /** The account's plan, or its requests per minute. */
      plan: Plan
      /** Names of the three storages in the service's API. */
      storages: Record<StorageName, string>
    }

/** Parts of the app that a process may run beside others on the same database. */
export const ROLES = ['all', 'receiver', 'worker', 'scheduler', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** Default admin ports; they differ so that one process of each role fits on a machine. */
export const ADMIN_PORTS: Record<Role, number> = {
  all: 4701,
  receiver: 4701,
  worker: 4702,
  scheduler: 4703,
  admin: 4704,
}

/** Least urgent level that is logged; `silent` logs nothing. */
const LOG_THRESHOLDS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogThreshold = (typeof LOG_THRESHOLDS)[number]

const portNumber = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .refine((number) => number <= 65_535)

const port = (fallback: number) => portNumber.default(fallback)

/** Variables that are always read, each with a text that completes "it should be …". */
export const GENERAL = {
  UPSHOT_DATA_DIR: [z.string().min(1).default('data'), 'a folder'],
  UPSHOT_WORKFLOWS_DIR: [z.string().min(1).optional(), 'a folder'],
  UPSHOT_HOST: [
    z
      .string()
      .refine((host) => host === 'localhost' || isIP(host) !== 0)
      .default('127.0.0.1'),
    'an IP address such as 127.0.0.1, or 0.0.0.0 for all interfaces',
  ],
  UPSHOT_PORT: [port(4700), 'a port from 0 to 65535'],
  UPSHOT_ADMIN_PORT: [portNumber.optional(), 'a port from 0 to 65535'],
  UPSHOT_SANDBOX_PORT: [port(4747), 'a port from 0 to 65535'],
  UPSHOT_SANDBOX_DOWNLOAD_PORT: [port(4748), 'a port from 0 to 65535'],
  UPSHOT_LOG_LEVEL: [z.enum(LOG_THRESHOLDS).default('info'), `one of ${LOG_THRESHOLDS.join(', ')}`],
  UPSHOT_ROLE: [z.enum(ROLES).default('all'), `one of ${ROLES.join(', ')}`],
  UPSHOT_DEV: [z.enum(['0', '1']).default('0'), '1 to load changed workflows again, or 0'],
  UPSHOT_SECRET_KEY: [z.string().min(1).optional(), '32 bytes in base64 or hex'],
  UPSHOT_WATCH_EFFECTS: [
    z.enum(['0', '1']).default('1'),
    '1 to report calls of workflows that the guard and the ledger do not see, or 0',
  ],
  UPSHOT_TRUST_READS: [z.enum(['0', '1']).default('0'), '1 to let reads that are planned send anything, or 0'],
  UPSHOT_EFFECTS: [z.enum(EFFECTS_MODES).default('live'), 'live, or plan, with which nothing acts'],
  UPSHOT_GUARD: [z.enum(['on', 'off']).default('on'), 'on, or off, which only the sandbox allows'],
  UPSHOT_ANCHOR_FILE: [z.string().min(1).optional(), 'a file'],
  UPSHOT_OIDC_SECRET: [z.string().min(1).optional(), 'the secret of this client at the provider of sign-ins'],
  UPSHOT_PUBLIC_URL: [publicUrl.optional(), PUBLIC_URL_LOOKS_LIKE],
} as const

/** Variables of the real service. With any of them set, those without a default must be set. */
const SERVICE = {
  SERVICE_BASE_URL: [
    z.url({ protocol: /^https?$/ }),
    'the base address with its version, such as https://api.example.com/v1',
  ],
  SERVICE_API_KEY: [z.string().regex(/^[\x21-\x7e]+$/), 'the API key from the account settings of the service'],
  SERVICE_API_KEY_FALLBACK: [
    z
      .string()
      .regex(/^[\x21-\x7e]+$/)
      .optional(),
    'the API key to try when SERVICE_API_KEY is refused, during a rotation',
  ],
  SERVICE_WEBHOOK_SECRET: [
    z.string().refine(isStrongSecret),
    'the secret that the service signs deliveries with, at least 24 bytes',
  ],
  SERVICE_SIGNATURE_HEADER: [
    z
      .string()
      .regex(/^[\w-]+$/)
      .optional(),
    'the name of the header that carries the signature',
  ],
  SERVICE_PLAN: [
    z
      .union([
        z.enum(['free', 'pro', 'enterprise']),
        z
          .string()
          .regex(/^[1-9]\d{0,5}$/)
          .transform(Number),
      ])
      .default('free'),
    'free, pro, enterprise, or the allowed requests per minute (1 to 999999)',
  ],
  SERVICE_STORAGE_A: [z.string().min(1), 'the name of the document-suite storage in API calls'],
  SERVICE_STORAGE_B: [z.string().min(1), 'the name of the desktop-suite storage in API calls'],
  SERVICE_STORAGE_C: [z.string().min(1), 'the name of the file-sync storage in API calls'],
} as const

/** Variables of the app that author code has no need of. */
export const SECRET_VARIABLES = [
  'SERVICE_API_KEY',
  'SERVICE_API_KEY_FALLBACK',
  'SERVICE_WEBHOOK_SECRET',
  'UPSHOT_SECRET_KEY',
  'UPSHOT_OIDC_SECRET',
  'UPSHOT_DATABASE_URL',
  'UPSHOT_DATABASE_DIRECT_URL',
  'UPSHOT_DATABASE_READ_URL',
] as const

/** Every variable, in the order of `upshot config show`. */
export const VARIABLES: Variables = { ...GENERAL, ...DATABASE, ...SERVICE, ...TRACES }

/** Names that the command line reads, and those that a process sets for another one. */
const READ_ELSEWHERE = ['UPSHOT_SERVER', 'UPSHOT_TOKEN_FILE', TELLS_PARENT, 'UPSHOT_REHEARSAL_REACH']

/** Edits by which a name is still taken for another one, misspelt. */
const MAX_EDITS = 3

/** The `UPSHOT_` variables that nothing reads. `named`: those that the project file names. */
export function listUnknown(
  environment: Environment,
  named: readonly string[],
): { name: string; like: string | null }[] {
  const known = [...Object.keys(VARIABLES), ...READ_ELSEWHERE, ...named]
  const names = Object.keys(environment).filter((name) => name.startsWith('UPSHOT_') && environment[name])
  return names
    .filter((name) => !known.includes(name))
    .map((name) => {
      const [nearest] = known.map((like) => ({ like, edits: countEdits(name, like) })).sort((a, b) => a.edits - b.edits)
      return { name, like: nearest && nearest.edits <= MAX_EDITS ? nearest.like : null }
    })
}

/** The fewest letters to insert, remove or replace (Levenshtein). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, edits) => edits)
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1]
    for (let n = 0; n < to.length; n++) {
      next.push(Math.min((next[n] ?? 0) + 1, (row[n + 1] ?? 0) + 1, (row[n] ?? 0) + Number(letter !== to[n])))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

type Variables = Record<string, readonly [z.ZodType, string]>

type Values<T extends Variables> = { [Name in keyof T]: z.output<T[Name][0]> }

/** Flags by the variable that each overrides; `flag` is the name in messages. */
export type ConfigFlags = { readonly [Name in keyof typeof GENERAL]?: { flag: string; value: string } }

/** Null where `faults` got new entries; the sandbox where no variable of the service is set. */
export function readService(environment: Environment, faults: string[]): ServiceConfig | null {
  if (!Object.keys(SERVICE).some((name) => environment[name])) return { kind: 'sandbox' }
  const values = readVariables(SERVICE, environment, faults)
  if (!values) return null
  const { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY_FALLBACK: fallbackKey } = values
  const url = new URL(baseUrl)
  const fault = decideKeyFault(url, values.SERVICE_API_KEY)
  if (fault) faults.push(KEY_FAULTS[fault])
  const fallbackFault = fallbackKey === undefined ? null : decideKeyFault(url, fallbackKey)
  if (fallbackFault) faults.push(KEY_FAULTS[fallbackFault].replace('SERVICE_API_KEY', 'SERVICE_API_KEY_FALLBACK'))
  return {
    kind: 'real',
    baseUrl,
    apiKey: values.SERVICE_API_KEY,
    fallbackKey: fallbackKey ?? null,
    webhookSecret: values.SERVICE_WEBHOOK_SECRET,
    signatureHeader: values.SERVICE_SIGNATURE_HEADER ?? null,
    plan: values.SERVICE_PLAN,
    storages: {
      storage_a: values.SERVICE_STORAGE_A,
      storage_b: values.SERVICE_STORAGE_B,
      storage_c: values.SERVICE_STORAGE_C,
    },
  }
}

/** Parses each variable and appends a sentence to `faults` for each that fails; null if any did. */
export function readVariables<T extends Variables>(
  variables: T,
  environment: Environment,
  faults: string[],
  nameOf: (name: Extract<keyof T, string>) => string = (name) => name,
): Values<T> | null {
  const values: Record<string, unknown> = {}
  const before = faults.length
  for (const [name, [schema, looksLike]] of Object.entries(variables)) {
    const text = environment[name] || undefined
    const parsed = schema.safeParse(text)
    if (parsed.success) {
      values[name] = parsed.data
      continue
    }
    // The value stays out of the message: it may be a secret.
    const fault = text === undefined ? 'is missing' : 'is not valid'
    faults.push(`${nameOf(name as Extract<keyof T, string>)} ${fault}: it should be ${looksLike}.`)
  }
  return faults.length === before ? (values as Values<T>) : null
}

/** The faults that `decideKeyFault` finds, told with the names of the variables. */
const KEY_FAULTS = {
  sandbox_key_elsewhere: 'SERVICE_API_KEY is a key of the sandbox, but SERVICE_BASE_URL is not on this machine.',
  real_key_here: 'SERVICE_BASE_URL is on this machine, but SERVICE_API_KEY is not a key of the sandbox (sk_sandbox_…).',
  key_in_the_clear: 'SERVICE_BASE_URL must begin with https://, or the API key would be sent unencrypted.',
} as const satisfies Record<KeyFault, string>
