import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { describeError, UpshotError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { Notice } from '../../core/notices.ts'
import type { BrokenModule } from '../../core/runs/workflow-record.ts'
import type { Clock } from '../../core/time.ts'
import type { Arrivals } from '../../engine/claim/claim-on-arrival.ts'
import { WorkerCounts } from '../../engine/claim/worker-counts.ts'
import type { CodeAtWork } from '../../engine/pass/scope.ts'
import { hiddenVariables } from '../../project/config/environment.ts'
import type { Config } from '../../project/config/load-config.ts'
import { findImporters } from '../../project/workflows/find-importers.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import type { StoreOptions } from '../../store/open-store.ts'
import type { SharedStore } from '../../store/shared-store.ts'
import { Link, type LinkMessage } from '../preview/child/link.ts'
import type { EngineAccess, EngineLoad } from './engine.ts'
import { type EngineConfig, type EngineStart, handConfig, type LoadingModule } from './engine-config.ts'
import { takeThread } from './start/begin-thread.ts'
import { killProcess } from './watch/end-process.ts'
import type { ThreadMemory } from './watch/memory-watch.ts'
import { describeExit, type EngineEnd, Question } from './watch/question.ts'

/** Interval of heartbeats beside workers of other machines, in milliseconds. */
const SHARED_BEAT_MS = 1_000

/** Longest time that an answer about its memory may take. */
const ANSWER_MS = 1_000

/** How long to wait for a thread that is told to end: native code may keep it. */
const END_WITHIN_MS = 1_000
/** A loop that turns beats within this time. */
const MAX_TURN_MS = 1_000

export interface EngineThreadParts {
  config: EngineConfig & Pick<Config, 'engine'>
  storeOptions: StoreOptions
  store: Pick<SharedStore, 'connect'>
  now: number
  pulseMs: number
  /** Modules that ended or blocked an earlier one; late ones are added. */
  skipped: SkippedModule[]
  /** Replaced by the modules that it could not load. */
  broken: BrokenModule[]
  heard: (notices: readonly Notice[]) => void
}

/** The main thread's side of one engine thread. */
export class EngineThread {
  readonly id: string
  readonly counts = new WorkerCounts()
  /** Resolves when it has loaded its modules; rejects with their fault. */
  readonly loaded: Promise<void>
  /** Resolves when it has ended, however it ended. */
  readonly ended: Promise<EngineEnd>
  codeHashes: Readonly<Record<string, string>> = {}
  /** The module that it loads now; null: none. */
  loading: LoadingModule | null = null
  /** As it said last. */
  fileLimits: EngineLoad['fileLimits'] = []
  readonly #pulse = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #thread: Worker
  readonly #cut: () => void
  readonly #link: Link
  readonly #gone = Promise.withResolvers<void>()
  /** False while native code keeps a thread that was told to end. */
  isGone = false
  #end: EngineEnd | null = null
  /** Where code called `process.exit`. */
  #exitedAt: CodeAtWork | null = null

  constructor({ config, storeOptions, store, now, pulseMs, skipped, broken, heard }: EngineThreadParts) {
    this.id = newId('wrk', now)
    const { port, cut } = store.connect()
    this.#cut = cut
    const start: EngineStart = {
      config: {
        ...handConfig(config),
        // Workers of other machines are known by their silence of 3 s, and each looks for the dead.
        ...('file' in storeOptions ? {} : { beatMs: SHARED_BEAT_MS }),
      },
      store: storeOptions,
      port,
      worker: this.id,
      pulseMs,
      skipped,
      variables: hiddenVariables(),
      counts: this.counts.memory,
      pulse: this.#pulse.buffer as SharedArrayBuffer,
    }
    const begun = takeThread(config.engine)
    this.#thread = begun.worker
    begun.start(start, [port])
    this.#link = new Link((message) => this.#thread.postMessage(message), {
      loading: (module: LoadingModule | null) => {
        this.loading = module
      },
      loaded: (codeHashes: Record<string, string>, found: readonly BrokenModule[]) => {
        this.codeHashes = codeHashes
        broken.splice(0, broken.length, ...found)
      },
      late: (module: SkippedModule) => void skipped.push(module),
      limits: (fileLimits: EngineLoad['fileLimits']) => {
        this.fileLimits = fileLimits
      },
      exiting: (at: CodeAtWork | null) => {
        this.#exitedAt = at
      },
      replaced: (name: string) => this.#endReplaced(name, config.workflowsDir),
    })
    // Notices are frequent, so they are sent as they are.
    this.#thread.on('message', (message: LinkMessage | readonly Notice[]) => {
      if (isNotices(message)) heard(message)
      else this.#link.receive(message)
    })
    process.on('exit', this.#leave)
    this.loaded = this.#link.call('load')
    this.ended = this.#whenEnded()
  }

  /** A number that rises while its loop turns. */
  get beat(): number {
    return Atomics.load(this.#pulse, 0)
  }

  get threadId(): number {
    return this.#thread.threadId
  }

  /** Answers even while its loop is blocked. Nothing where native code holds it for a second. */
  async memory(): Promise<ThreadMemory> {
    const nothing = { used_heap_size: 0, external_memory: 0 }
    const asked = this.#thread.getHeapStatistics().catch(() => nothing)
    const { used_heap_size, external_memory } = await Promise.race([asked, sleep(ANSWER_MS, nothing, { ref: false })])
    return { heap: used_heap_size, buffers: external_memory }
  }

  /** Rejects with the error of the start, or with `not_running` when the thread ends meanwhile. */
  start(access: EngineAccess): Promise<void> {
    return this.#link.call('start', access)
  }

  /** Lets its passes finish, for so many milliseconds. */
  async drain(clock: Clock, withinMs: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = clock.at(clock.now() + withinMs, late.resolve)
    await Promise.race([this.#link.call('stop').catch(() => {}), late.promise])
    cancel()
  }

  wake(): void {
    this.#link.tell('wake')
  }

  /** Gives it runs that were claimed for it. */
  receive(arrivals: Arrivals): void {
    this.#thread.postMessage(arrivals)
  }

  /**
   * Ends it for this reason, and waits a second at most. None of its code runs afterwards, but a
   * native call goes on.
   */
  async end(end: EngineEnd): Promise<void> {
    this.#end ??= end
    const timer = setTimeout(this.#gone.resolve, END_WITHIN_MS)
    void this.#thread.terminate().then(() => this.#gone.resolve())
    await this.#gone.promise
    clearTimeout(timer)
  }

  /**
   * Code has replaced a function of JavaScript that the engine calls: its state is not known. The
   * runs of the modules that may have done it wait for them.
   */
  async #endReplaced(name: string, folder: string): Promise<void> {
    using question = new Question(this.threadId)
    const found = await question.locate('replacedBy')
    const how = `replaced ${name}${found === null ? '' : ` by a function at ${found.place}`}`
    const error = { name: 'Error', message: `The code of a workflow ${how}, which the engine runs on.` }
    const files = found === null ? [] : await findImporters(folder, found.file)
    const skipped = files.map((file) => ({ file, code: null, why: `its code, or code that it imports, ${how}` }))
    await this.end({ cause: 'replaced', error, skipped, harm: skipped.length > 0 ? { runs: [], how } : null })
  }

  /** An exit waits for all threads, and so for ever for one that native code keeps. */
  readonly #leave = (): void => {
    const { beat } = this
    if (beat > 0 && Atomics.wait(this.#pulse, 0, beat, MAX_TURN_MS) === 'timed-out') killProcess()
  }

  async #whenEnded(): Promise<EngineEnd> {
    this.#thread.on('error', (error) => {
      const isFull = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      this.#end ??= { cause: isFull ? 'out_of_memory' : 'threw', error: describeError(error) }
    })
    let exitCode = 0
    this.#thread.on('exit', (code) => {
      exitCode = code
      this.isGone = true
      process.off('exit', this.#leave)
      this.#gone.resolve()
    })
    await this.#gone.promise
    this.#cut()
    const end = this.#end ?? describeExit(exitCode, this.#exitedAt)
    this.#link.end(new UpshotError('not_running', `The engine has ended. ${end.error.message}`))
    return end
  }
}

function isNotices(message: LinkMessage | readonly Notice[]): message is readonly Notice[] {
  return Array.isArray(message)
}
