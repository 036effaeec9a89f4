import { isDeepStrictEqual } from 'node:util'
import type { Caller, Publish } from '../../core/notices.ts'
import { RetryAt } from '../../core/runs/retry.ts'
import { type BurstSetting, burstOf, DEFAULT_ACCOUNT, findKeyFault, type Plan } from '../../core/service/account.ts'
import type { FilesApi, WrapCall } from '../../core/service/files-api.ts'
import type { StorageName, StorageSpellings } from '../../core/service/storage.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { FilesClient, FilesClientOptions, FilesLogLine, LimiterStore, Priority } from '../../files/index.ts'
import { planLimit, storedLimits } from '../../files/limit/limiter-store.ts'
import { wrapCalls } from '../../files/wrap-calls.ts'

/** How to reach an account of the service. */
export interface Access {
  baseUrl: string
  apiKey: string
  /** Tried when `apiKey` is refused; null outside a rotation. */
  fallbackKey: string | null
  plan: Plan
  /** Names of the storages in the service's API; default: our own names. */
  storages: Partial<Record<StorageName, string>>
}

/** Pause of a run whose account is missing or has an unfit key, until somebody repairs that. */
const RETRY_AFTER_MS = 60_000

/** Time for which the hosts of accounts are remembered. */
const LOOK_EVERY_MS = 30_000

/** A call that must wait longer ends its pass: the run parks and frees its slot. */
const MAX_WAIT = '5s'

interface AccountClientsParts {
  store: Pick<Store, 'loadLimit' | 'saveLimit' | 'findAccount' | 'listAccounts'>
  /** Called at the first call of the default account. */
  defaultAccess: () => Access
  /** Requests that may start at once; null: none is set. */
  burst: BurstSetting
  /** Order of the calls that wait for the limit. */
  priority: Priority
  clock: Clock
  random: () => number
  publish: Publish
  /** Gives each call its header `traceparent`; null: calls have none. */
  tracing?: { traceparentOf: (caller: Caller) => string | null } | null
}

/** A Files client for each account, made at its first call and again after a change of it. */
export class AccountClients {
  readonly #parts: AccountClientsParts
  readonly #limiter: LimiterStore
  readonly #clients = new Map<string, { access: Access; client: FilesClient }>()
  /** Includes replaced clients, whose calls in progress go on. */
  readonly #opened = new Set<FilesClient>()
  readonly #perMinute = new Map<string, number>()
  /** Of the named accounts. */
  #hosts: ReadonlySet<string> = new Set()
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(parts: AccountClientsParts) {
    this.#parts = parts
    this.#limiter = storedLimits(parts.store)
  }

  /** The Files API of an account, with each call performed through `wrap`. */
  filesFor(name: string, wrap: WrapCall): FilesApi {
    return wrapCalls(
      () => this.clientOf(name),
      (call, perform) =>
        wrap(call, (attempt) => perform({ ...attempt, caller: attempt.caller && this.#trace(attempt.caller) })),
      (line) => this.#report(name, line),
    )
  }

  /**
   * The client of an account. Throws `RetryAt` where it is missing or has an unfit key. The first
   * one loads the Files API's code: a start does without it.
   */
  async clientOf(name: string): Promise<FilesClient> {
    const { createFilesClient } = await import('../../files/client.ts')
    const access = name === DEFAULT_ACCOUNT ? this.#parts.defaultAccess() : await this.#findAccess(name)
    const known = this.#clients.get(name)
    if (known && isDeepStrictEqual(known.access, access)) return known.client
    const client = createFilesClient(this.#optionsOf(name, access))
    this.#perMinute.set(name, planLimit(access.plan).perMinute)
    this.#opened.add(client)
    this.#clients.set(name, { access, client })
    return client
  }

  /** Requests a minute that the plan of each account in use allows. */
  get limits(): { account: string; perMinute: number }[] {
    return [...this.#perMinute].map(([account, perMinute]) => ({ account, perMinute }))
  }

  /** The storage names of an account; empty for an unknown account. */
  spellingsOf(name: string): StorageSpellings | Promise<StorageSpellings> {
    if (name === DEFAULT_ACCOUNT) return this.#parts.defaultAccess().storages
    return this.#parts.store.findAccount(name).then((account) => account?.storages ?? {})
  }

  /** Whether a host serves an account, as far as the last look at the accounts tells. */
  isServiceHost(host: string): boolean {
    const now = this.#parts.clock.now()
    if (Math.abs(now - this.#lookedAt) >= LOOK_EVERY_MS) {
      this.#lookedAt = now
      void this.lookAtHosts().catch(() => {})
    }
    return this.#hosts.has(host) || host === hostOf(this.#parts.defaultAccess())
  }

  async lookAtHosts(): Promise<void> {
    this.#hosts = new Set((await this.#parts.store.listAccounts()).map(hostOf))
  }

  /** Aborts all calls and refuses new ones; resolves when nothing more is sent. */
  async stop(): Promise<void> {
    await Promise.all([...this.#opened].map((client) => client.stop()))
  }

  /** Reads the account at each call, so that a new key is used at once. */
  async #findAccess(name: string): Promise<Access> {
    const account = await this.#parts.store.findAccount(name)
    if (account === null) {
      const fix = `Add it with "upshot accounts add ${name}", and the run goes on.`
      throw this.#retryLater(`There is no account "${name}". ${fix}`)
    }
    const fault = findKeyFault(account)
    if (fault !== null) throw this.#retryLater(`The account "${name}" cannot be called: ${fault}`)
    return account
  }

  #retryLater(message: string): RetryAt {
    return new RetryAt(this.#parts.clock.now() + RETRY_AFTER_MS, message)
  }

  #optionsOf(name: string, { baseUrl, apiKey, fallbackKey, plan, storages }: Access): FilesClientOptions {
    const { clock, random, priority } = this.#parts
    const burst = burstOf(this.#parts.burst, name)
    return {
      baseUrl,
      apiKey,
      ...(fallbackKey === null ? {} : { fallbackKey }),
      plan,
      ...(burst === null ? {} : { burst }),
      services: storages,
      priority,
      retry: { maxWait: MAX_WAIT },
      limiter: this.#limiter,
      clock,
      random,
      log: (line) => this.#report(name, line),
    }
  }

  #trace(caller: Caller): Caller {
    const traceparent = this.#parts.tracing?.traceparentOf(caller) ?? null
    return traceparent === null ? caller : { ...caller, traceparent }
  }

  #report(account: string, line: FilesLogLine): void {
    const { publish } = this.#parts
    if (line.kind === 'call') {
      const { operation, service, id = null, caller = null, status, outcome, attempts, ms, waitedMs, tries } = line
      const about = { operation, service, account, caller: caller && withoutHeader(caller), id } as const
      const figures = { status, outcome, attempts, ms, waitedMs, ...(tries && { tries }) }
      publish({ kind: 'files.called', ...about, ...figures })
    }
    if (line.kind === 'warning') publish({ kind: 'files.warned', service: line.service ?? null, message: line.message })
  }
}

function hostOf({ baseUrl }: Pick<Access, 'baseUrl'>): string {
  return new URL(baseUrl).host
}

function withoutHeader({ traceparent, ...caller }: Caller): Caller {
  return caller
}
