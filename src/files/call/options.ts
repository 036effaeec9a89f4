import { UpshotError } from '../../core/errors.ts'
import { parseAttempts } from '../../core/runs/retry.ts'
import type { Plan } from '../../core/service/account.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { type Clock, type Duration, parseDuration, systemClock } from '../../core/time.ts'
import { rawTransport } from '../http/raw-transport.ts'
import { isSafeOrigin } from '../http/request-url.ts'
import { fetchTransport, nodeTransport, type Transport } from '../http/transport.ts'
import { type KeyLimit, type LimiterStore, type Priority, planLimit } from '../limit/limiter-store.ts'
import type { FilesLogLine } from '../log-line.ts'
import type { KeySource } from './key-ring.ts'

/** How the service spells the name of one storage. */
export interface WireName {
  /** The spelling in every address. */
  wire: string
  /** The spelling for `POST /files/list`. Default: `wire` with `_` for each space and `-`. */
  alternative?: string
}

/** `primary` is `GET /files`, `alternative` is `POST /files/list`. */
export type ListForm = 'auto' | 'primary' | 'alternative'

/** Options of `createFilesClient`. Only `baseUrl` and `apiKey` are required. */
export interface FilesClientOptions {
  /** The service's address with its version: `https://…/v1`. Plain http works on loopback only. */
  baseUrl: string
  /** The API key, or a function that gives it: asked at the first call and after each 401. */
  apiKey: KeySource
  /** Used when the service refuses `apiKey`. Set it to the new key while you rotate keys. */
  fallbackKey?: KeySource
  /** The service's spelling of each storage. Default: `storage_a`, `storage_b`, `storage_c`. */
  services?: Partial<Record<StorageName, string | WireName>>
  /** Default `auto`: `primary`, or `alternative` once the service shows that it has no other. */
  listForm?: ListForm
  /** The field that carries a page token back to the service. Default `page_token`. */
  pageTokenField?: string
  /**
   * Requests per minute. A plan's name gives 60 (`free`, `pro`) or 300 (`enterprise`) until the
   * service names its limit; a number is final. Default `free`.
   */
  plan?: Plan
  /**
   * Requests that may start at once, where the plan allows more than a minute's. The next ones wait
   * until time has made up for it. All processes of a key need the same. Default: none.
   */
  burst?: number
  /** Order of the calls of this client that wait for the limit. Default `workflow`. */
  priority?: Priority
  /** Bounds in time. */
  timeouts?: {
    /** Until a request has its connection. Default 5s. */
    connect?: Duration
    /**
     * For one attempt: connection, headers and body; for a download without its body. Default 30s.
     */
    attempt?: Duration
    /** The longest silence while bytes are awaited. Default 20s. */
    stall?: Duration
    /**
     * For a whole call with its pauses; for a download, the time without any byte. Default 120s.
     */
    total?: Duration
  }
  /** Attempts after a failure that may pass. */
  retry?: {
    /** Attempts per call, the first included; a whole number, 1 or more. Default 4. */
    attempts?: number
    /**
     * The largest first pause; it doubles with each attempt. A pause is random below it. Default
     * 500ms.
     */
    base?: Duration
    /** The largest pause. Default 15s. */
    cap?: Duration
    /**
     * The longest wait that the service or the limit may ask for; beyond it the call fails. Default
     * 60s.
     */
    maxWait?: Duration
    /**
     * Tokens for retries, a whole number: each retry takes 5, and each success and each second
     * gives 1 back. Default 100.
     */
    quota?: number
  }
  /** Hosts that bytes may come from, such as `files.example.com`. Default: any host. */
  downloadHosts?: readonly string[]
  /** True: `delete` sends nothing and answers `dry_run`. Default false. */
  dryRun?: boolean
  /** Where the limit's state is kept. Default: in memory, for this client only. */
  limiter?: LimiterStore
  /** Source of time. Default: the system's clock. */
  clock?: Clock
  /** Gives random numbers in [0, 1) for pauses. Default `Math.random`. */
  random?: () => number
  /** Sends every request. Default: Node's HTTP client. */
  fetch?: typeof fetch
  /** Receives every log line. Default: none is kept. */
  log?: (line: FilesLogLine) => void
}

/** The client's options with every default filled in; durations are in milliseconds. */
export interface ClientSettings {
  baseUrl: string
  services: Readonly<Record<StorageName, Required<WireName>>>
  listForm: ListForm
  pageTokenField: string
  limit: KeyLimit
  priority: Priority
  connectMs: number
  attemptMs: number
  stallMs: number
  totalMs: number
  retry: { attempts: number; baseMs: number; capMs: number; maxWaitMs: number; quota: number }
  /** In lower case; null allows every host. */
  downloadHosts: readonly string[] | null
  dryRun: boolean
  clock: Clock
  random: () => number
  transport: Transport
  /** Sends the requests for files' bytes. */
  bytesTransport: Transport
}

/**
 * Fills in the defaults. Throws `invalid_config` for a base address that can never work. An error
 * names the option whose duration or number is not valid.
 */
export function resolveSettings(options: FilesClientOptions): ClientSettings {
  const { timeouts = {}, retry = {}, burst } = options
  return Object.freeze({
    baseUrl: requireBaseUrl(options.baseUrl),
    services: wireNames(options.services ?? {}),
    listForm: options.listForm ?? 'auto',
    pageTokenField: options.pageTokenField ?? 'page_token',
    limit: {
      ...planLimit(options.plan ?? 'free'),
      burst: burst === undefined ? null : requireWhole(burst, 1, 'burst'),
    },
    priority: options.priority ?? 'workflow',
    connectMs: parseDuration(timeouts.connect ?? '5s', 'timeouts.connect'),
    attemptMs: parseDuration(timeouts.attempt ?? '30s', 'timeouts.attempt'),
    stallMs: parseDuration(timeouts.stall ?? '20s', 'timeouts.stall'),
    totalMs: parseDuration(timeouts.total ?? '120s', 'timeouts.total'),
    retry: {
      attempts: parseAttempts(retry.attempts ?? 4, 'retry.attempts'),
      baseMs: parseDuration(retry.base ?? '500ms', 'retry.base'),
      capMs: parseDuration(retry.cap ?? '15s', 'retry.cap'),
      maxWaitMs: parseDuration(retry.maxWait ?? '60s', 'retry.maxWait'),
      quota: requireWhole(retry.quota ?? 100, 0, 'retry.quota'),
    },
    downloadHosts: options.downloadHosts?.map((host) => host.toLowerCase()) ?? null,
    dryRun: options.dryRun ?? false,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    ...transportsOf(options.fetch),
  })
}

/** True when the path does not end with the version segment that the specification asks for. */
export function lacksVersion(baseUrl: string): boolean {
  return !/\/v\d+$/.test(new URL(baseUrl).pathname)
}

function transportsOf(own: typeof fetch | undefined): Pick<ClientSettings, 'transport' | 'bytesTransport'> {
  if (own === undefined) return { transport: nodeTransport, bytesTransport: rawTransport }
  const transport = fetchTransport(own)
  return { transport, bytesTransport: transport }
}

function requireWhole(given: number, least: number, option: string): number {
  if (Number.isSafeInteger(given) && given >= least) return given
  throw new UpshotError('invalid_config', `${option}: "${given}" is not a whole number, ${least} or more.`)
}

function requireBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url !== null && isPlain && isSafeOrigin(url)) return url.href.replace(/\/+$/, '')
  throw new UpshotError(
    'invalid_config',
    'The base address of the service must be an https URL such as "https://api.example.com/v1". ' +
      'It has no user, query or fragment; plain http works on loopback only.',
  )
}

function wireNames(given: NonNullable<FilesClientOptions['services']>): ClientSettings['services'] {
  const names = STORAGES.map((storage) => {
    const name = given[storage] ?? storage
    const wire = typeof name === 'string' ? name : name.wire
    const alternative = typeof name === 'string' ? undefined : name.alternative
    return [storage, { wire, alternative: alternative ?? wire.replace(/[-\s]+/g, '_') }]
  })
  return Object.fromEntries(names) as ClientSettings['services']
}
