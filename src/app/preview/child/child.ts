import { type ChildProcess, type ForkOptions, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MAX_LOAD_MS } from '../../../core/blockage.ts'
import { describeError, UpshotError } from '../../../core/errors.ts'
import { after, type Clock, systemClock } from '../../../core/time.ts'
import type { SkippedModule } from '../../../project/workflows/load-workflows.ts'
import { type Handlers, Link, type LinkMessage, postMessage } from './link.ts'

interface ChildParts extends Pick<ForkOptions, 'cwd' | 'env' | 'execArgv'> {
  /** Such as `The process that previews workflows`, for messages. */
  name: string
  /** The file of its code; see {@link besides}. */
  entry: string
  /** Answer its calls. */
  handlers: Handlers
  /** Gets what it prints, or a file for that. Default: nothing is kept. */
  output?: ((text: string) => void) | number | 'inherit' | 'ignore'
  /** Longest time without a message while a call is open. Default: for ever. */
  patienceMs?: number
  /** Kills it, and is the reason of its open calls. */
  signal?: AbortSignal | undefined
  /** True: it ends by itself once this process is gone. Default: it is killed then. */
  outlivesParent?: boolean
  clock?: Clock
}

/** Time beyond its own for a module that loads: its process gives up an await by itself. */
const LOAD_GRACE_MS = 1_000

/** Options of Node for author's code without reach: it reads files, to load code, and no more. */
export const NO_REACH = ['--permission', '--allow-fs-read=*', '--no-warnings']

/** A supervised process. One that is silent during a call is given up. */
export class Child implements AsyncDisposable {
  /** The module that it loads now; null: none. */
  loading: Omit<SkippedModule, 'why'> | null = null
  /** Its exit code, null where a signal ended it, and the same in words. */
  readonly ended: Promise<{ code: number | null; how: string }>
  readonly #process: ChildProcess
  readonly #link: Link
  readonly #parts: ChildParts
  #calls = 0
  #cancelWatch = () => {}

  constructor({ name, entry, handlers, output = 'ignore', ...parts }: ChildParts) {
    const { cwd, env, execArgv, signal, outlivesParent = false } = parts
    const stream = typeof output === 'function' ? 'pipe' : output
    this.#parts = { name, entry, handlers, ...parts }
    this.#process = fork(entry, {
      cwd,
      env,
      execArgv,
      ...(signal && { signal, killSignal: 'SIGKILL' }),
      serialization: 'advanced',
      stdio: ['ignore', stream, stream, 'ipc'],
    })
    const { stdout, stderr } = this.#process
    if (typeof output === 'function') for (const each of [stdout, stderr]) each?.setEncoding('utf8').on('data', output)
    this.#link = new Link((message) => postMessage(this.#process, message), {
      pulse: () => {},
      loading: (module: Child['loading']) => {
        this.loading = module
      },
      ...handlers,
    })
    this.#link.onMove = () => this.#watch()
    this.#process.on('message', (message: LinkMessage) => this.#link.receive(message))
    this.#process.on('error', (error) => this.#end(error.message))
    this.ended = once(this.#process, 'exit').then(
      ([code, signal]) => ({ code, how: signal ?? `exit code ${code}` }),
      ({ message }: Error) => ({ code: null, how: message }),
    )
    void this.ended.then(({ how }) => this.#end(how))
    if (!outlivesParent && this.pid !== undefined) killWithUs(this.pid, this.ended)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Rejects with the error of its handler, or `internal` where the process ends or is silent. */
  async call<T>(name: string, ...given: unknown[]): Promise<T> {
    this.#calls += 1
    this.#watch()
    try {
      return await this.#link.call<T>(name, ...given)
    } finally {
      this.#calls -= 1
      this.#watch()
    }
  }

  /** Calls without an answer. */
  tell(name: string, ...given: unknown[]): void {
    this.#link.tell(name, ...given)
  }

  /** Waits for its end, and kills it after so long. */
  async killAfter(ms: number): Promise<void> {
    const cancel = after(systemClock, ms, () => this.#process.kill('SIGKILL'))
    await this.ended
    cancel()
  }

  /** Kills it at once, and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelWatch()
    this.#process.kill('SIGKILL')
    if (this.pid !== undefined) await this.ended
  }

  /** Each message shows that it lives; without one for long, its code blocks it. */
  #watch(): void {
    this.#cancelWatch()
    const { patienceMs, clock = systemClock } = this.#parts
    if (patienceMs === undefined || this.#calls === 0 || this.#link.isServing) return
    const ms = this.loading !== null ? Math.min(patienceMs, MAX_LOAD_MS + LOAD_GRACE_MS) : patienceMs
    this.#cancelWatch = after(clock, ms, () => {
      this.#end(`no answer within ${ms} ms: code of a workflow is still busy`)
      this.#process.kill('SIGKILL')
    })
  }

  #end(why: string): void {
    const { name, signal } = this.#parts
    // No module is to blame.
    if (signal?.aborted) this.loading = null
    this.#link.end(signal?.aborted ? signal.reason : new UpshotError('internal', `${name} has ended: ${why}.`))
  }
}

/**
 * Kills a process once this one is gone, however that came: code in a loop hears of nothing. A
 * shell waits for that, as the end of its input. On a machine without one, nobody does.
 */
function killWithUs(pid: number, ended: Promise<unknown>): void {
  const shell = spawn('/bin/sh', ['-c', 'read -r _; kill -9 "$0"', String(pid)], {
    // A Ctrl-C at the terminal does not reach it.
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.on('error', () => {})
  void ended.then(() => shell.kill('SIGKILL'))
}

/**
 * Begins processes until one has loaded the author's modules. Each is without those that have ended
 * or blocked one before it.
 */
export async function loadInChild<T>(
  begin: () => Child,
  load: (child: Child, skipped: readonly SkippedModule[]) => Promise<T>,
): Promise<{ child: Child; loaded: T }> {
  const skipped: SkippedModule[] = []
  for (;;) {
    const child = begin()
    try {
      return { child, loaded: await load(child, skipped) }
    } catch (error) {
      await child[Symbol.asyncDispose]()
      if (child.loading === null) throw error
      skipped.push({ ...child.loading, why: describeError(error).message.replace(/\.$/, '') })
    }
  }
}

/** A file beside a module, with the same ending: source here, JavaScript in the package. */
export function besides(url: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(fileURLToPath(url))}`, url))
}

/** The option of Node that loads such a file before all other code. */
export function importFirst(file: string): string[] {
  return ['--import', pathToFileURL(file).href]
}
