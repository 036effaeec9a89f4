import { isDeepStrictEqual } from 'node:util'
import { RetryAt } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import { type Account, DEFAULT_ACCOUNT, findKeyFault, type Plan } from '../core/service/account.ts'
import type { FilesApi, WrapCall } from '../core/service/files-api.ts'
import type { StorageName, StorageSpellings } from '../core/service/storage.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import { createFilesClient, type FilesClient, type FilesLogLine, type LimiterStore } from '../files/index.ts'
import { storedLimits } from '../files/limit/stored-limits.ts'
import { wrapCalls } from '../files/wrap-calls.ts'

/** Where an account of the service is, and by which key it lets us in. */
export interface Access {
  baseUrl: string
  apiKey: string
  /** Tried when `apiKey` is refused; null outside a rotation. */
  fallbackKey: string | null
  plan: Plan
  /** How the service writes the names of the three storages. */
  storages: Partial<Record<StorageName, string>>
}

/**
 * A run whose account cannot be called looks again after this long, in case somebody has mended it.
 */
const LOOK_AGAIN_MS = 60_000

/** In a run a longer wait costs nothing but its slot, which it gives back. */
const MAX_WAIT = '5s'

export interface AccountClientsParts {
  store: Pick<Store, 'loadLimit' | 'saveLimit' | 'findAccount'>
  /** Asked when the default account is called for the first time. */
  defaultAccess: () => Access
  clock: Clock
  random: () => number
  publish: Publish
}

/**
 * A Files client for each account, made when a run first calls it, and made anew when the account
 * is changed.
 */
export class AccountClients {
  readonly #parts: AccountClientsParts
  readonly #limiter: LimiterStore
  readonly #others = new Map<string, { account: Account; client: FilesClient }>()
  /** Calls that began with an account as it was end as they began. */
  readonly #every = new Set<FilesClient>()
  #default: FilesClient | null = null

  constructor(parts: AccountClientsParts) {
    this.#parts = parts
    this.#limiter = storedLimits(parts.store)
  }

  /** The Files API of an account, with each call performed through `around`. */
  filesFor(name: string, around: WrapCall): FilesApi {
    return wrapCalls(
      () => this.#clientOf(name),
      around,
      (line) => this.#tell(line),
    )
  }

  /** How an account writes the storages; nothing of an account that is not known. */
  spellingsOf(name: string): StorageSpellings | Promise<StorageSpellings> {
    if (name === DEFAULT_ACCOUNT) return this.#parts.defaultAccess().storages
    return this.#parts.store.findAccount(name).then((account) => account?.storages ?? {})
  }

  /** Ends all calls and refuses new ones; resolves when nothing more is sent. */
  async stop(): Promise<void> {
    await Promise.all([...this.#every].map((client) => client.stop()))
  }

  #clientOf(name: string): FilesClient | Promise<FilesClient> {
    if (name !== DEFAULT_ACCOUNT) return this.#otherClient(name)
    this.#default ??= this.#open(this.#parts.defaultAccess())
    return this.#default
  }

  /** Asked for each call, so that a new key holds from the next one on. */
  async #otherClient(name: string): Promise<FilesClient> {
    const account = await this.#parts.store.findAccount(name)
    if (account === null)
      throw this.#lookAgain(
        `There is no account "${name}". Add it with "upshot accounts add ${name}", and the run goes on.`,
      )
    const known = this.#others.get(name)
    if (known && isDeepStrictEqual(known.account, account)) return known.client
    const fault = findKeyFault(account)
    if (fault !== null) throw this.#lookAgain(`The account "${name}" is not called: ${fault}`)
    const client = this.#open(account)
    this.#others.set(name, { account, client })
    return client
  }

  #lookAgain(message: string): RetryAt {
    return new RetryAt(this.#parts.clock.now() + LOOK_AGAIN_MS, message)
  }

  #open({ baseUrl, apiKey, fallbackKey, plan, storages }: Access): FilesClient {
    const { clock, random } = this.#parts
    const client = createFilesClient({
      baseUrl,
      apiKey,
      ...(fallbackKey === null ? {} : { fallbackKey }),
      plan,
      services: storages,
      retry: { maxWait: MAX_WAIT },
      limiter: this.#limiter,
      clock,
      random,
      log: (line) => this.#tell(line),
    })
    this.#every.add(client)
    return client
  }

  #tell(line: FilesLogLine): void {
    const { publish } = this.#parts
    if (line.kind === 'call') {
      const { operation, service, id = null, status, outcome, attempts, ms } = line
      publish({ kind: 'files.called', operation, service, id, status, outcome, attempts, ms })
    }
    if (line.kind === 'warning') publish({ kind: 'files.warned', service: line.service ?? null, message: line.message })
  }
}
