import { UpshotError } from '../../core/errors.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { type Clock, type Duration, parseDuration, systemClock } from '../../core/time.ts'
import { rawTransport } from '../http/raw-transport.ts'
import { isSafeOrigin } from '../http/request-url.ts'
import { fetchTransport, nodeTransport, type Transport } from '../http/transport.ts'
import { type LimiterStore, type Plan, type Priority, planLimit } from '../limit/limiter-store.ts'
import type { FilesLogLine } from '../log-line.ts'
import type { KeySource } from './key-ring.ts'

/**
 * How the service spells a storage. `alternative` is for `/files/list`, which writes it with an
 * underscore.
 */
export interface WireName {
  wire: string
  alternative?: string
}

export interface FilesClientOptions {
  /**
   * The service's base address with its version segment: `https://…/v1`. Plain http is for loopback
   * only.
   */
  baseUrl: string
  /** A provider is asked at the first call, and again when the service answers 401. */
  apiKey: KeySource
  /** Tried when `apiKey` is refused: set it to the new key while keys are being rotated. */
  fallbackKey?: KeySource
  /** Default: our own names, `storage_a` to `storage_c`. */
  services?: Partial<Record<StorageName, string | WireName>>
  /**
   * `auto`, the default, tries `GET /files` and keeps to `POST /files/list` where the first does
   * not exist.
   */
  listForm?: ListForm
  /** Field in which the alternative form takes a page token back; default `page_token`. */
  pageTokenField?: string
  /**
   * Requests per minute: a plan's, until the service names its own limit; a number is final.
   * Default `free`.
   */
  plan?: Plan | number
  /** Who waits first when requests queue for the limit; default `workflow`. */
  priority?: Priority
  timeouts?: {
    /** Until a request has a connection. Default 5s. */
    connect?: Duration
    /** One attempt: connection, headers and body; of a download only the first two. Default 30s. */
    attempt?: Duration
    /** Longest silence while bytes are awaited. Default 20s. */
    stall?: Duration
    /** A whole call with its pauses; of a download, the time without any bytes. Default 120s. */
    total?: Duration
  }
  retry?: {
    /** Tries in all. Default 4. */
    attempts?: number
    /**
     * Ceiling of the first pause, which doubles up to `cap`; a random part of it is taken. Defaults
     * 500ms and 15s.
     */
    base?: Duration
    cap?: Duration
    /** A longer pause is not waited for: the call fails with `retryAt`. Default 60s. */
    maxWait?: Duration
    /** Retry tokens of a key; each retry takes 5, each success gives 1 back. Default 100. */
    quota?: number
  }
  /** Hosts that bytes may come from, such as `files.example.com`; default: any. */
  downloadHosts?: readonly string[]
  /** Deletes are looked at, never sent. */
  dryRun?: boolean
  /**
   * Shares the limit with other processes and keeps it over restarts; default: this client alone,
   * in memory.
   */
  limiter?: LimiterStore
  clock?: Clock
  /** In [0, 1). */
  random?: () => number
  /** Sends the requests instead of Node's own HTTP client. */
  fetch?: typeof fetch
  log?: (line: FilesLogLine) => void
}

export type ListForm = 'auto' | 'primary' | 'alternative'

/** The options with every default filled in. */
export interface Settings {
  baseUrl: string
  services: Readonly<Record<StorageName, Required<WireName>>>
  listForm: ListForm
  pageTokenField: string
  /** Requests per minute to start with, and whether the service's own word may change it. */
  limit: { perMinute: number; isFinal: boolean }
  priority: Priority
  connectMs: number
  attemptMs: number
  stallMs: number
  totalMs: number
  retry: { attempts: number; baseMs: number; capMs: number; maxWaitMs: number; quota: number }
  downloadHosts: readonly string[] | null
  dryRun: boolean
  clock: Clock
  random: () => number
  /** Sends the requests of the API, and those for the bytes of files. */
  transport: Transport
  bytesTransport: Transport
}

/** Throws `invalid_config` for what can never work. */
export function resolveSettings(options: FilesClientOptions): Settings {
  const { timeouts = {}, retry = {} } = options
  return Object.freeze({
    baseUrl: requireBaseUrl(options.baseUrl),
    services: wireNames(options.services ?? {}),
    listForm: options.listForm ?? 'auto',
    pageTokenField: options.pageTokenField ?? 'page_token',
    limit: planLimit(options.plan ?? 'free'),
    priority: options.priority ?? 'workflow',
    connectMs: parseDuration(timeouts.connect ?? '5s'),
    attemptMs: parseDuration(timeouts.attempt ?? '30s'),
    stallMs: parseDuration(timeouts.stall ?? '20s'),
    totalMs: parseDuration(timeouts.total ?? '120s'),
    retry: {
      attempts: Math.max(1, Math.floor(retry.attempts ?? 4)),
      baseMs: parseDuration(retry.base ?? '500ms'),
      capMs: parseDuration(retry.cap ?? '15s'),
      maxWaitMs: parseDuration(retry.maxWait ?? '60s'),
      quota: retry.quota ?? 100,
    },
    downloadHosts: options.downloadHosts?.map((host) => host.toLowerCase()) ?? null,
    dryRun: options.dryRun ?? false,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    ...transportsOf(options.fetch),
  })
}

/**
 * True where the version segment is missing, which the specification says is part of the base
 * address.
 */
export function lacksVersion(baseUrl: string): boolean {
  return !/\/v\d+$/.test(new URL(baseUrl).pathname)
}

function transportsOf(own: typeof fetch | undefined): Pick<Settings, 'transport' | 'bytesTransport'> {
  if (own === undefined) return { transport: nodeTransport, bytesTransport: rawTransport }
  const transport = fetchTransport(own)
  return { transport, bytesTransport: transport }
}

function requireBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url !== null && isPlain && isSafeOrigin(url)) return url.href.replace(/\/+$/, '')
  throw new UpshotError(
    'invalid_config',
    'The base address of the service must be an https URL such as "https://api.example.com/v1", without user, query and fragment; http is for loopback only.',
  )
}

function wireNames(given: NonNullable<FilesClientOptions['services']>): Settings['services'] {
  const names = STORAGES.map((storage) => {
    const name = given[storage] ?? storage
    const wire = typeof name === 'string' ? name : name.wire
    const alternative = typeof name === 'string' ? undefined : name.alternative
    return [storage, { wire, alternative: alternative ?? wire.replace(/[-\s]+/g, '_') }]
  })
  return Object.fromEntries(names) as Settings['services']
}
