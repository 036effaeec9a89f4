import { mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Failure, UpshotError } from '../../core/errors.ts'
import { OWN_EVENT_IDS, randomWord } from '../../core/ids.ts'
import { type Endpoint, planEndpoint } from '../../core/incoming/endpoint.ts'
import type { Run } from '../../core/runs/run.ts'
import { DEFAULT_ACCOUNT, planAccount } from '../../core/service/account.ts'
import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { KEEP_ALL } from '../../core/store/retention.ts'
import type { Store } from '../../core/store/store.ts'
import { processEnvironment } from '../../project/config/environment.ts'
import type { Config } from '../../project/config/load-config.ts'
import { openStore } from '../../project/data-dir/open-store.ts'
import { type Sandbox, startSandbox } from '../../sandbox/index.ts'
import { deliverSigned } from '../deliver.ts'
import { besides, Child, importFirst, loadInChild, NO_REACH } from '../preview/child/child.ts'
import type { NamedFile } from './gather-files.ts'
import type { StartedApp } from './rehearsal-main.ts'
import { type StagedFile, stageFiles } from './stage-files.ts'

interface RehearsalParts {
  /** Of the project; see {@link rehearsalConfig}. */
  config: Config
  /** Folder in which the workflows run, as they do in production. */
  root: string
  account: string
  files: readonly NamedFile[]
  /** Hosts that workflows may reach beside the sandbox. */
  hosts: readonly string[]
  /** Variables that workflows get. */
  variables: Readonly<Record<string, string>>
  /** Ends it, also while code is in a loop. */
  signal?: AbortSignal
}

/** Longest silence of the app, as it starts or answers. */
const PATIENCE_MS = 60_000
const DELIVER_WITHIN_MS = 10_000
/** Variables that a process needs, and that hold no secret. */
const PLAIN = /^(PATH|HOME|LANG|LC_\w+|TZ|SystemRoot|NODE_COMPILE_CACHE)$/

/** An app with a sandbox, a database and a folder of its own, to run one event in. */
export class Rehearsal implements AsyncDisposable {
  /** The temporary folder, with all that the rehearsal writes. */
  readonly folder: string
  readonly sandbox: Sandbox
  /** The database of the rehearsal, opened beside its app. */
  readonly store: Store
  readonly staged: Awaited<ReturnType<typeof stageFiles>>
  /** Modules of the project that cannot be loaded. */
  broken: { file: string; error: Failure }[] = []
  /** Hosts that workflows asked for, and did not get. */
  readonly refused = new Set<string>()
  readonly #endpoint: Endpoint
  #opened: AsyncDisposableStack | null = null
  #child: Child | null = null
  #receiver = ''
  /** Time of the app minus that of the machine. */
  #aheadMs = 0

  private constructor(given: Pick<Rehearsal, 'folder' | 'sandbox' | 'store' | 'staged'> & { endpoint: Endpoint }) {
    this.folder = given.folder
    this.sandbox = given.sandbox
    this.store = given.store
    this.staged = given.staged
    this.#endpoint = given.endpoint
  }

  /** Starts the sandbox with the files, and the app. Throws `internal` where it does not start. */
  static async open(parts: RehearsalParts): Promise<Rehearsal> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'upshot-rehearsal-')))
    for (const each of ['data', 'tmp']) mkdirSync(join(folder, each), { mode: 0o700 })
    await using opened = new AsyncDisposableStack()
    opened.defer(() => rmSync(folder, { recursive: true, force: true }))
    const sandbox = opened.use(await startSandbox({ dir: join(folder, 'service'), plan: 'unlimited' }))
    const staged = await stageFiles(sandbox, parts.files)
    const { key: apiKey } = await sandbox.keys.create({ name: 'rehearsal', scope: 'read-write' })
    const service = { baseUrl: sandbox.url, apiKey, webhookSecret: randomWord() }
    const config = rehearsalConfig(parts.config, join(folder, 'data'), service)
    const store = await openStore(config)
    opened.defer(() => store.close())
    const endpoint = planEndpoint({ name: 'rehearsal', account: parts.account }, Date.now())
    await store.addEndpoint(endpoint)
    if (parts.account !== DEFAULT_ACCOUNT) await store.saveAccount(standInFor(parts.account, service))
    const rehearsal = new Rehearsal({ folder, sandbox, store, staged, endpoint })
    opened.defer(() => rehearsal.#child?.[Symbol.asyncDispose]())
    await rehearsal.#start(config, parts)
    const [secret] = endpoint.secrets
    const url = `${rehearsal.#receiver}/hooks/${endpoint.path}`
    await sandbox.webhooks.add({ url, events: ['*'], secret: secret?.value ?? '' })
    rehearsal.#opened = opened.move()
    return rehearsal
  }

  /** The time of the app, in epoch milliseconds. */
  get now(): number {
    return Date.now() + this.#aheadMs
  }

  /** Delivers an event, signed, through the receiver. Throws where that refuses it. */
  async deliver(id: string, body: string): Promise<void> {
    const target = { endpoint: this.#endpoint, receiver: this.#receiver, now: Date.now() }
    const signal = AbortSignal.timeout(DELIVER_WITHIN_MS)
    // An event that Upshot made comes by a delivery here, which may not have its id.
    const given = id.replace(OWN_EVENT_IDS, 'evt_')
    const sent = { id: given, body: Buffer.from(body.replace(id, () => given)) }
    const { status, verdict, reason } = await deliverSigned(sent, { ...target, signal })
    if (verdict === 'accepted') return
    const why = verdict ?? reason ?? `HTTP ${status}`
    throw new UpshotError('invalid_event', `The receiver of the rehearsal refuses the event: ${why}`)
  }

  /** Sets the clock of the app forward, to epoch milliseconds. */
  async forwardTo(moment: number): Promise<void> {
    const now = await this.#app.call<number>('forwardTo', moment)
    this.#aheadMs = now - Date.now()
  }

  makeLink(): Promise<string> {
    return this.#app.call<string>('makeLink')
  }

  listFiles(): StagedFile[] {
    return STORAGES.flatMap((storage) =>
      this.sandbox
        .storage(storage)
        .list()
        .map(({ id, path, type, size }) => ({ storage, id, path, type, bytes: size, madeUp: [] })),
    )
  }

  /** Ends the app and the sandbox, and removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.disposeAsync()
  }

  get #app(): Child {
    if (this.#child === null) throw new Error('The app of the rehearsal has not started.')
    return this.#child
  }

  async #start(config: Config, parts: RehearsalParts): Promise<void> {
    const { loaded } = await loadInChild(
      () => {
        this.#child = this.#begin(config, parts)
        return this.#child
      },
      (child, skipped) => child.call<StartedApp>('start', config, skipped),
    )
    this.#receiver = loaded.receiver
    this.broken = loaded.broken
  }

  #begin(config: Config, { root, hosts, variables, signal }: RehearsalParts): Child {
    const own = Object.entries(processEnvironment()).filter(([name]) => PLAIN.test(name))
    const { origin, downloadOrigin } = this.sandbox
    const reach = [new URL(origin).host, new URL(downloadOrigin).host, ...hosts]
    const writable = [this.folder, join(this.folder, '*')].map((path) => `--allow-fs-write=${path}`)
    return new Child({
      name: 'The app of the rehearsal',
      entry: besides(import.meta.url, 'rehearsal-main'),
      cwd: root,
      execArgv: [
        ...NO_REACH,
        '--allow-addons',
        '--allow-worker',
        ...writable,
        ...importFirst(besides(import.meta.url, 'on-refused')),
      ],
      env: {
        ...Object.fromEntries(own),
        ...variables,
        UPSHOT_DATA_DIR: config.dataDir,
        UPSHOT_REHEARSAL_REACH: reach.join(','),
        TMPDIR: join(this.folder, 'tmp'),
      },
      handlers: { refused: (host: string) => void this.refused.add(host) },
      output: openSync(join(this.folder, 'app.log'), 'a'),
      patienceMs: PATIENCE_MS,
      signal,
    })
  }
}

function standInFor(name: string, { baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
  const [storage_a, storage_b, storage_c] = STORAGES
  const storages = { storage_a, storage_b, storage_c }
  return planAccount({ name, baseUrl, apiKey, fallbackKey: null, plan: PLAN, storages }, Date.now())
}

/** The service of a rehearsal: its own sandbox, with a key and a secret made for it. */
interface RehearsalService {
  baseUrl: string
  apiKey: string
  webhookSecret: string
}

const OWN_NAMES: Record<StorageName, string> = {
  storage_a: 'storage_a',
  storage_b: 'storage_b',
  storage_c: 'storage_c',
}
/** Requests a minute: a rehearsal waits for no limit. */
const PLAN = 100_000

/**
 * The project's configuration for a rehearsal: its code, its guard and its limits. Each part is
 * named here: a new one, which may hold a secret, does not slip in.
 */
function rehearsalConfig(config: Config, dataDir: string, service: RehearsalService): Config {
  const { workflowsDir, slots, drainMs, engine, limits, receive, guardPolicy, outside } = config
  return {
    workflowsDir,
    slots,
    drainMs,
    engine,
    limits,
    receive,
    dataDir,
    ...(outside && { outside }),
    // Every write is in the ledger, so that the rehearsal shows it.
    guardPolicy: { ...guardPolicy, ledger: 'all' },
    files: { burst: null },
    publicUrl: null,
    admin: { host: '127.0.0.1', url: null, basePath: '', metrics: 'token', proxy: null, oidc: null },
    // Its clock is set forward, and nothing of it is to age.
    retention: KEEP_ALL,
    host: '127.0.0.1',
    ports: { receiver: 0, admin: 0, sandbox: 0, sandboxDownload: 0 },
    logLevel: 'info',
    role: 'all',
    secretKey: null,
    oidcSecret: null,
    service: {
      kind: 'real',
      fallbackKey: null,
      signatureHeader: null,
      plan: PLAN,
      storages: OWN_NAMES,
      ...service,
    },
  }
}

/** Interval of the looks. */
const LOOK_EVERY_MS = 50
/** Looks without work, one after the other, until nothing more is to come. */
const QUIET_LOOKS = 8
/** Runs that are looked at. */
const MAX_RUNS = 1_000

/**
 * Waits until nothing is at work, and sets the clock forward over sleeps and pauses. A run that
 * awaits an event or people stays where it is. False where `signal` aborts first.
 */
export async function awaitRest(rehearsal: Rehearsal, signal: AbortSignal): Promise<boolean> {
  let quiet = 0
  while (!signal.aborted) {
    const runs = await rehearsal.store.listRuns({ limit: MAX_RUNS })
    const next = findNext(runs)
    quiet = isAtWork(rehearsal, runs) ? 0 : quiet + 1
    if (quiet >= QUIET_LOOKS) {
      if (next === null) return true
      if (next > rehearsal.now) await rehearsal.forwardTo(next)
      quiet = 0
    }
    await sleep(LOOK_EVERY_MS)
  }
  return false
}

function isAtWork({ sandbox }: Rehearsal, runs: readonly Run[]): boolean {
  const isRunning = runs.some(({ status }) => status === 'pending' || status === 'running')
  const isSending = (['pending', 'sending'] as const).some((state) => sandbox.deliveries.count({ state }) > 0)
  return isRunning || isSending
}

/** The earliest moment at which a run goes on by itself; null where none does. */
function findNext(runs: readonly Run[]): number | null {
  const moments = runs.flatMap(({ status, dueAt, awaits }) =>
    status === 'waiting' && dueAt !== null && !awaits ? [dueAt] : [],
  )
  return moments.length === 0 ? null : Math.min(...moments)
}
