import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Sandbox, startSandbox } from 'upshot/sandbox'
import { UpshotError } from '../../src/core/errors.ts'
import { randomWord } from '../../src/core/ids.ts'
import type { Store } from '../../src/core/store/store.ts'
import { systemClock } from '../../src/core/time.ts'
import { openStore } from '../../src/project/data-dir/open-store.ts'
import { readRuntimeFile } from '../../src/project/data-dir/runtime-file.ts'
import type { Say } from '../shared.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const MAIN = resolve(PROJECT, 'src/app/main.js')

const YEAR_MS = 365 * 86_400_000

/** Files that the service has had for a year when the demo begins. */
export const OLD_EXPORTS = ['/exports/old-1.csv', '/exports/old-2.csv', '/exports/old-3.csv']

/** The service in this process, and the app in its own, so that it can be killed alone. */
export class DemoStage implements AsyncDisposable {
  readonly sandbox: Sandbox
  readonly dataDir: string
  /** The app's database, opened from outside as the command line does. */
  readonly store: Store
  readonly #environment: Record<string, string>
  #app: ChildProcess | null = null
  /** The app's receiver; the same after a restart. */
  receiverUrl = ''

  private constructor(sandbox: Sandbox, store: Store, dataDir: string, environment: Record<string, string>) {
    this.sandbox = sandbox
    this.dataDir = dataDir
    this.#environment = environment
    this.store = store
  }

  /** Starts the service and the app, and registers the app's endpoint at the service. */
  static async open(folder: string): Promise<DemoStage> {
    const sandbox = await startSandbox({
      dir: join(folder, 'service'),
      plan: 'unlimited',
      clock: 'manual',
      startAt: systemClock.now() - YEAR_MS,
    })
    for (const path of OLD_EXPORTS) await sandbox.storage('storage_a').put(path, 'an export of last year\n')
    await sandbox.clock.followMachine()
    const { key } = await sandbox.keys.create({ name: 'demo', scope: 'read-write' })
    const secret = randomWord()
    const dataDir = join(folder, 'data')
    const store = await openStore({ dataDir, secretKey: null })
    const stage = new DemoStage(sandbox, store, dataDir, {
      UPSHOT_DATA_DIR: dataDir,
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
    try {
      await stage.startApp()
      await sandbox.webhooks.add({ url: await stage.endpointUrl(), events: ['*'], secret })
    } catch (error) {
      await stage[Symbol.asyncDispose]()
      throw error
    }
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
      // None of the caller's variables, which may name the caller's own service.
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
    const exited = once(this.#app, 'exit')
    this.#app.kill('SIGKILL')
    await exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const app = this.#app
    if (app && app.exitCode === null && app.signalCode === null) {
      const exited = once(app, 'exit')
      app.kill('SIGTERM')
      await exited
    }
    await this.sandbox.stop()
    await this.store.close()
  }
}

const GIVE_UP_AFTER_MS = 60_000
const POLL_EVERY_MS = 20

/** Polls every 20 ms until `look` finds something; throws after a minute, for busy machines. */
export async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  const deadline = Date.now() + GIVE_UP_AFTER_MS
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > deadline)
      throw new UpshotError('internal', `Gave up after ${GIVE_UP_AFTER_MS / 1000} s of waiting until ${what}.`)
    await sleep(POLL_EVERY_MS)
  }
}

/** Runs a part of the demo, and checks its effects. */
export type Scene = (stage: DemoStage, checks: Checks) => Promise<void>

/** Prints each promise with its result, and counts the broken ones. */
export class Checks {
  readonly #print: Say
  failed = 0

  constructor(print: Say) {
    this.#print = print
  }

  /** A line that tells what happens between two promises. */
  tell(line: string): void {
    this.#print(`   · ${line}`)
  }

  expect(promise: string, isKept: boolean): void {
    this.#print(`   ${isKept ? '✓' : '✗'} ${promise}`)
    if (!isKept) this.failed += 1
  }
}
