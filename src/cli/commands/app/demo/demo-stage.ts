import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UpshotError } from '../../../../core/errors.ts'
import { randomWord } from '../../../../core/ids.ts'
import type { Store } from '../../../../core/store/store.ts'
import { openStore } from '../../../../project/data-dir/open-store.ts'
import { readRuntimeFile } from '../../../../project/data-dir/runtime-file.ts'
import { type Sandbox, startSandbox } from '../../../../sandbox/index.ts'

/** In the package the samples lie compiled beside the code: Node strips no types there. */
const IS_SOURCE = import.meta.filename.endsWith('.ts')
const MAIN = resolve(import.meta.dirname, IS_SOURCE ? '../../../../app/main.ts' : '../../../../app/main.js')
const PROJECT = resolve(import.meta.dirname, IS_SOURCE ? '../../../../..' : '../../../../samples')

/**
 * The service in this process, the app in one of its own: only so can the app be killed and the
 * service stay.
 */
export class DemoStage implements AsyncDisposable {
  readonly sandbox: Sandbox
  readonly dataDir: string
  /** A view of the app's database from outside, as the command line has it. */
  readonly store: Store
  readonly #environment: Record<string, string>
  #app: ChildProcess | null = null
  /** Where the app listens; the same after a restart. */
  receiverUrl = ''

  private constructor(sandbox: Sandbox, dataDir: string, environment: Record<string, string>) {
    this.sandbox = sandbox
    this.dataDir = dataDir
    this.#environment = environment
    this.store = openStore({ dataDir, secretKey: null })
  }

  /** Starts both and registers the app's endpoint at the service. */
  static async open(folder: string): Promise<DemoStage> {
    const sandbox = await startSandbox({ dir: join(folder, 'service'), plan: 'unlimited' })
    const { key } = await sandbox.keys.create({ name: 'demo', scope: 'read-write' })
    const secret = randomWord()
    const stage = new DemoStage(sandbox, join(folder, 'data'), {
      UPSHOT_DATA_DIR: join(folder, 'data'),
      UPSHOT_PORT: '0',
      UPSHOT_ADMIN_PORT: '0',
      UPSHOT_LOG_LEVEL: 'warn',
      SERVICE_BASE_URL: sandbox.url,
      SERVICE_API_KEY: key,
      SERVICE_WEBHOOK_SECRET: secret,
      SERVICE_PLAN: '100000',
      SERVICE_STORAGE_A: 'storage_a',
      SERVICE_STORAGE_B: 'storage_b',
      SERVICE_STORAGE_C: 'storage_c',
    })
    await stage.startApp()
    await sandbox.webhooks.add({ url: await stage.endpointUrl(), events: ['*'], secret })
    return stage
  }

  get pid(): number {
    return this.#app?.pid ?? 0
  }

  async endpointUrl(): Promise<string> {
    const [endpoint] = await this.store.listEndpoints()
    return `${this.receiverUrl}/hooks/${endpoint?.path}`
  }

  /** Starts the app and resolves when it is ready. */
  async startApp(): Promise<void> {
    const app = spawn(process.execPath, [MAIN], {
      cwd: PROJECT,
      // Nothing of the caller's own settings, lest the demo meets the caller's own service.
      env: this.#environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let complaint = ''
    app.stderr?.on('data', (chunk) => {
      complaint += chunk
    })
    this.#app = app
    const runtime = await until('the app is ready', async () => {
      if (app.exitCode !== null) throw new UpshotError('internal', `The app did not start: ${complaint}`)
      const found = readRuntimeFile(this.dataDir)
      return found?.pid === app.pid ? found : null
    })
    this.receiverUrl = runtime.receiver
    this.#environment.UPSHOT_PORT = new URL(runtime.receiver).port
  }

  /** Ends the app as a power cut would. */
  async killApp(): Promise<void> {
    if (!this.#app || this.#app.exitCode !== null || this.#app.signalCode !== null) return
    const gone = once(this.#app, 'exit')
    this.#app.kill('SIGKILL')
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const app = this.#app
    if (app && app.exitCode === null && app.signalCode === null) {
      const gone = once(app, 'exit')
      app.kill('SIGTERM')
      await gone
    }
    await this.sandbox.stop()
    await this.store.close()
  }
}

const PATIENCE_MS = 10_000
const LOOK_EVERY_MS = 20

/** Looks until there is something to see; gives up after 10 s. */
export async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const seen = await look()
    if (seen) return seen
    if (Date.now() > deadline)
      throw new UpshotError('internal', `Waited ${PATIENCE_MS / 1000} s until ${what}, in vain.`)
    await sleep(LOOK_EVERY_MS)
  }
}
