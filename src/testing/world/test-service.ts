import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import { type Account, planAccount } from '../../core/service/account.ts'
import { STORAGES } from '../../core/service/storage.ts'
import type { Store } from '../../core/store/store.ts'
import type { FilesFor } from '../../engine/worker-parts.ts'
import { createFilesClient, type FilesClient, type FilesLogLine } from '../../files/index.ts'
import { wrapCalls } from '../../files/wrap-calls.ts'
import { type Entry, type Sandbox, type SandboxEvent, type SandboxOptions, startSandbox } from '../../sandbox/index.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Options of the testbed's sandbox. Directory, clock and seed belong to the testbed. */
export type TestServiceOptions = Partial<Omit<SandboxOptions, 'dir' | 'clock' | 'startAt' | 'seed'>>

/**
 * The sandbox of a testbed. It starts with its first use, because that takes most of a short test's
 * time.
 */
export class TestService {
  readonly #options: TestServiceOptions & { seed: number }
  readonly #time: VirtualTime
  #starting: Promise<{ sandbox: Sandbox; apiKey: string }> | null = null
  #sandbox: Sandbox | null = null
  #folder: string | null = null

  constructor(time: VirtualTime, options: TestServiceOptions & { seed: number }) {
    this.#time = time
    this.#options = options
  }

  async sandbox(): Promise<Sandbox> {
    return (await this.#start()).sandbox
  }

  /** The last event of a type that the sandbox emitted. Throws `not_found`. */
  emitted(type: string): SandboxEvent {
    const event = this.#sandbox?.events.list({ type }).at(-1)
    if (event) return event
    throw new UpshotError(
      'not_found',
      `The sandbox has emitted no ${type}. Change a storage or start a transfer first.`,
    )
  }

  /** A real client of the sandbox. Its calls fail after `close`. */
  openFiles(random: () => number): { filesFor: FilesFor; close(): Promise<void> } {
    const pauses = new CallPauses(this.#time)
    let client: Promise<FilesClient> | null = null
    let isClosed = false
    const connect = () => (client ??= this.#connect(random, pauses))
    const call = async <T>(perform: (files: FilesClient) => Promise<T>): Promise<T> => {
      const files = await connect()
      if (isClosed) await files.stop()
      return pauses.during(() => perform(files))
    }
    // These are the methods that `wrapCalls` calls. Steps start before the sandbox does, in the
    // order of the code.
    const lazy = {
      list: (...given) => call((files) => files.list(...given)),
      listAnew: (...given) => call((files) => files.listAnew(...given)),
      find: (...given) => call((files) => files.find(...given)),
      get: (...given) => call((files) => files.get(...given)),
      downloadUrl: (...given) => call((files) => files.downloadUrl(...given)),
      download: (...given) => call((files) => files.download(...given)),
      hash: (...given) => call((files) => files.hash(...given)),
      delete: (...given) => call((files) => files.delete(...given)),
    } satisfies Partial<FilesClient>
    return {
      filesFor: (_account, around) =>
        wrapCalls(
          () => lazy,
          around,
          () => {},
        ),
      async close() {
        isClosed = true
        pauses.end()
        const files = await client?.catch(() => null)
        await files?.stop()
      },
    }
  }

  async stop(): Promise<void> {
    const started = await this.#starting?.catch(() => null)
    await started?.sandbox.stop()
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true })
  }

  async #connect(random: () => number, pauses: CallPauses): Promise<FilesClient> {
    const { sandbox, apiKey } = await this.#start()
    const log = (line: FilesLogLine) => void (line.kind === 'wait' && pauses.begin(line.until))
    // The sandbox's own plan is the only limit.
    const plan = Number.MAX_SAFE_INTEGER
    return createFilesClient({ baseUrl: sandbox.url, apiKey, clock: this.#time.clock, random, plan, log })
  }

  #start(): Promise<{ sandbox: Sandbox; apiKey: string }> {
    this.#starting ??= this.#launch()
    return this.#starting
  }

  async #launch(): Promise<{ sandbox: Sandbox; apiKey: string }> {
    this.#folder = await mkdtemp(join(tmpdir(), 'upshot-testbed-'))
    const sandbox = await startSandbox({
      plan: 'unlimited',
      hints: false,
      ...this.#options,
      dir: this.#folder,
      clock: 'manual',
      startAt: this.#time.clock.now(),
    })
    this.#sandbox = sandbox
    this.#time.moveFirst(sandbox.clock)
    const { key } = await sandbox.keys.create({ name: 'testbed', scope: 'read-write' })
    return { sandbox, apiKey: key }
  }
}

/**
 * Lets pauses of Files API calls pass, which no test should have to advance. Time moves while every
 * open call is pausing.
 */
class CallPauses {
  readonly #time: VirtualTime
  #calls = 0
  #until: number[] = []
  #isChecking = false
  #isOver = false

  constructor(time: VirtualTime) {
    this.#time = time
  }

  async during<T>(perform: () => Promise<T>): Promise<T> {
    this.#calls += 1
    try {
      return await perform()
    } finally {
      this.#calls -= 1
      this.#check()
    }
  }

  /** An open call pauses until a moment. */
  begin(until: number): void {
    this.#until.push(until)
    this.#check()
  }

  end(): void {
    this.#isOver = true
  }

  /** Deferred by a turn, in which a finished call may start the next one. */
  #check(): void {
    if (this.#isChecking || this.#isOver) return
    this.#isChecking = true
    setImmediate(async () => {
      this.#isChecking = false
      const now = this.#time.clock.now()
      this.#until = this.#until.filter((moment) => moment > now)
      if (this.#isOver || this.#until.length === 0 || this.#until.length < this.#calls) return
      await this.#time.moveTo(Math.min(...this.#until))
      this.#check()
    })
  }
}

/** Adds accounts by name. Their calls go to the sandbox, so address and key are never used. */
export async function addAccounts(
  store: Pick<Store, 'saveAccount'>,
  names: readonly string[],
  now: number,
): Promise<void> {
  const storages = Object.fromEntries(STORAGES.map((storage) => [storage, storage])) as Account['storages']
  for (const name of names) {
    const access = { baseUrl: 'http://127.0.0.1', apiKey: 'sk_sandbox_testbed', fallbackKey: null }
    await store.saveAccount(planAccount({ name, ...access, plan: 'enterprise', storages }, now))
  }
}

type SandboxStorage = ReturnType<Sandbox['storage']>

/** A storage as its user sees it. */
export interface TestStorage {
  /** Writes a file and the folders above it. */
  put(path: string, content: string | Uint8Array): Promise<Entry>
  /** The bytes of a file. Throws `not_found`. */
  get(path: string): Promise<Buffer>
  /** Everything beneath a folder, in order of path. Default `/`. */
  list(folder?: string): Promise<Entry[]>
  /** Deletes a file, or a folder with everything in it. Throws `not_found`. */
  remove(path: string): Promise<void>
}

/** A storage that opens with its first call. */
export function openTestStorage(open: () => Promise<SandboxStorage>): TestStorage {
  return {
    put: async (path, content) => (await open()).put(path, content),
    get: async (path) => (await open()).read(path),
    remove: async (path) => (await open()).remove(path),
    async list(folder = '/') {
      const above = folder.endsWith('/') ? folder : `${folder}/`
      return (await open()).list().filter((entry) => entry.path.startsWith(above))
    },
  }
}
