import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MAX_LOAD_MS } from '../../core/blockage.ts'
import { describeError, type Failure, UpshotError } from '../../core/errors.ts'
import { randomWord } from '../../core/ids.ts'
import { type Endpoint, planEndpoint } from '../../core/incoming/endpoint.ts'
import { DEFAULT_ACCOUNT, planAccount } from '../../core/service/account.ts'
import { STORAGES } from '../../core/service/storage.ts'
import type { Store } from '../../core/store/store.ts'
import { processEnvironment } from '../../project/config/environment.ts'
import type { Config } from '../../project/config/load-config.ts'
import { openStore } from '../../project/data-dir/open-store.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import { type Sandbox, startSandbox } from '../../sandbox/index.ts'
import { postMessage } from '../play/link.ts'
import { deliverSigned } from '../send/send-event.ts'
import type { NamedFile } from './gather-files.ts'
import { PLAN, rehearsalConfig } from './rehearsal-config.ts'
import type { FromRehearsal, ToRehearsal } from './rehearsal-main.ts'
import { type StagedFile, stageFiles } from './stage-files.ts'

interface RehearsalParts {
  /** Of the project; see {@link rehearsalConfig}. */
  config: Config
  /** Folder in which the workflows run, as they do in production. */
  root: string
  /** Account of the event. */
  account: string
  files: readonly NamedFile[]
  /** Hosts that workflows may reach beside the sandbox. */
  hosts: readonly string[]
  /** Variables that workflows get. */
  variables: Readonly<Record<string, string>>
}

/** Time for the app to load its modules and start. */
const START_WITHIN_MS = 60_000
/** Time beyond its own for a module that loads: the app gives up an await by itself. */
const LOAD_GRACE_MS = 1_000
const DELIVER_WITHIN_MS = 10_000
/** Variables that a process needs, and that hold no secret. */
const PLAIN = /^(PATH|HOME|LANG|LC_\w+|TZ|SystemRoot|NODE_COMPILE_CACHE)$/

/** An app with a sandbox, a database and a folder of its own, to play one event in. */
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
  #child: ChildProcess | null = null
  /** The module that the app loads now; null: none. */
  #loading: Omit<SkippedModule, 'why'> | null = null
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
    opened.defer(() => rehearsal.#kill())
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
    const { status, verdict, reason } = await deliverSigned({ id, body: Buffer.from(body) }, { ...target, signal })
    if (verdict === 'accepted') return
    const why = verdict ?? reason ?? `HTTP ${status}`
    throw new UpshotError('invalid_event', `The receiver of the rehearsal refuses the event: ${why}`)
  }

  /** Sets the clock of the app forward, to epoch milliseconds. */
  async forwardTo(moment: number): Promise<void> {
    const { now } = await this.#ask({ kind: 'forward', to: moment }, 'forwarded', DELIVER_WITHIN_MS)
    this.#aheadMs = now - Date.now()
  }

  /** A link that logs in to its dashboard. */
  async makeLink(): Promise<string> {
    return (await this.#ask({ kind: 'link' }, 'link', DELIVER_WITHIN_MS)).url
  }

  /** The files of the sandbox now. */
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

  /** Another app takes the place of one that a module ends or blocks, without that module. */
  async #start(config: Config, parts: RehearsalParts): Promise<void> {
    const skipped: SkippedModule[] = []
    for (;;) {
      this.#fork(config, parts)
      try {
        const { receiver, broken } = await this.#ask({ kind: 'start', config, skipped }, 'started', START_WITHIN_MS)
        this.#receiver = receiver
        this.broken = broken
        return
      } catch (error) {
        if (this.#loading === null) throw error
        skipped.push({ ...this.#loading, why: describeError(error).message.replace(/\.$/, '') })
        await this.#kill()
      }
    }
  }

  #fork(config: Config, { root, hosts, variables }: RehearsalParts): void {
    this.#loading = null
    const own = Object.entries(processEnvironment()).filter(([name]) => PLAIN.test(name))
    const { origin, downloadOrigin } = this.sandbox
    const reach = [new URL(origin).host, new URL(downloadOrigin).host, ...hosts]
    const log = openSync(join(this.folder, 'app.log'), 'a')
    this.#child = fork(pathOf('rehearsal-main'), {
      cwd: root,
      execArgv: [
        ...['--permission', '--allow-fs-read=*', '--allow-addons', '--allow-worker', '--no-warnings'],
        ...[`--allow-fs-write=${this.folder}`, `--allow-fs-write=${join(this.folder, '*')}`],
        ...['--import', pathToFileURL(pathOf('on-refused')).href],
      ],
      env: {
        ...Object.fromEntries(own),
        ...variables,
        UPSHOT_DATA_DIR: config.dataDir,
        UPSHOT_REHEARSAL_REACH: reach.join(','),
        TMPDIR: join(this.folder, 'tmp'),
      },
      serialization: 'advanced',
      stdio: ['ignore', log, log, 'ipc'],
    })
    this.#child.on('message', (message: FromRehearsal) => {
      if (message.kind === 'refused') this.refused.add(message.host)
    })
  }

  /** Rejects where the process ends, fails, or does not answer in time. */
  #ask<Kind extends FromRehearsal['kind']>(
    message: ToRehearsal,
    answer: Kind,
    withinMs: number,
  ): Promise<Extract<FromRehearsal, { kind: Kind }>> {
    const child = this.#child
    const { promise, resolve, reject } = Promise.withResolvers<Extract<FromRehearsal, { kind: Kind }>>()
    const giveUp = (why: string) => reject(new UpshotError('internal', `The app of the rehearsal ${why}`))
    let timer: NodeJS.Timeout | undefined
    const wait = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => giveUp(`gives no answer within ${ms / 1_000} s.`), ms)
    }
    wait(withinMs)
    const hear = (heard: FromRehearsal) => {
      if (heard.kind === 'loading') {
        this.#loading = heard.module
        wait(heard.module === null ? withinMs : MAX_LOAD_MS + LOAD_GRACE_MS)
      }
      if (heard.kind === answer) resolve(heard as never)
      if (heard.kind === 'failed') reject(new UpshotError(heard.code, heard.message))
    }
    const gone = () => giveUp('has ended by itself.')
    const failed = ({ message }: Error) => giveUp(`cannot be started: ${message}`)
    child?.on('message', hear).once('exit', gone).once('error', failed)
    if (child?.connected) postMessage(child, message)
    else gone()
    return promise.finally(() => {
      clearTimeout(timer)
      child?.off('message', hear).off('exit', gone).off('error', failed)
    })
  }

  async #kill(): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
}

function standInFor(name: string, { baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
  const [storage_a, storage_b, storage_c] = STORAGES
  const storages = { storage_a, storage_b, storage_c }
  return planAccount({ name, baseUrl, apiKey, fallbackKey: null, plan: PLAN, storages }, Date.now())
}

/** A file beside this one, with the same ending: source here, JavaScript in the package. */
function pathOf(name: string): string {
  return fileURLToPath(import.meta.url.replace(/rehearsal(\.\w+)$/, `${name}$1`))
}
