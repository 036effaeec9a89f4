import { url as debuggerUrl } from 'node:inspector'
import { countEnd, type EngineEnds, MAX_LOAD_MS } from '../../core/blockage.ts'
import { describeError, UpshotError } from '../../core/errors.ts'
import type { DeliveryReceipt, IncomingDelivery } from '../../core/incoming/delivery.ts'
import type { BrokenModule } from '../../core/runs/workflow-record.ts'
import type { Store } from '../../core/store/store.ts'
import { type Clock, waitUntil } from '../../core/time.ts'
import { ClaimOnArrival } from '../../engine/claim/claim-on-arrival.ts'
import { listAtWork, publishRecovery } from '../../engine/claim/recovery.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import { CLAIM_LOOK_MS, ClaimWatch } from './database/claim-watch.ts'
import type { Engine, EngineAccess, EngineLoad } from './engine.ts'
import type { LoadingModule } from './engine-config.ts'
import type { EngineThread, EngineThreadParts } from './engine-thread.ts'
import type { Quarantine } from './quarantine.ts'
import { awaitFull, endProcess, KeptThreads, reportKept } from './watch/end-process.ts'
import { EngineWatch, planLook } from './watch/engine-watch.ts'
import { HELD, type Shortage } from './watch/memory-watch.ts'
import type { EngineEnd } from './watch/question.ts'

/** Time beyond `drain` in which a stopping engine writes what it did. */
const STOP_GRACE_MS = 1_000
/** Pause after a death could not be written. */
const RETRY_MS = 1_000

interface SupervisedEngineParts {
  config: Pick<Config, 'engine' | 'drainMs' | 'slots'>
  store: Pick<
    Store,
    'saveDelivery' | 'listLeases' | 'endWorker' | 'stopWorker' | 'findRun' | 'checkWritable' | 'findClaimable'
  >
  clock: Clock
  notices: NoticeBus
  /** Tries runs alone that may have ended an engine. Default: nobody does. */
  quarantine?: Quarantine
  begin: (begin: Pick<EngineThreadParts, 'pulseMs' | 'skipped' | 'broken' | 'heard'>) => EngineThread
}

/**
 * The engine on a thread of its own, so that no author code delays a delivery. When its loop is
 * blocked for `engine.hang`, or it ends, its runs are recovered and another one begins. See
 * decision 35.
 */
export class SupervisedEngine implements Engine {
  readonly #parts: SupervisedEngineParts
  readonly #stopping = new AbortController()
  readonly #claims: ClaimWatch
  #thread: EngineThread
  /** Claims for the present thread; null while none is at work. */
  #intake: ClaimOnArrival | null = null
  #access: EngineAccess | null = null
  #beganAt: number
  #ends: EngineEnds | null = null
  #watch: EngineWatch | null = null
  /** Slots that no run gets while memory is short. */
  #held = 0
  readonly #kept = new KeptThreads()
  /** Modules that ended or blocked a thread while it loaded them. */
  readonly #skipped: SkippedModule[] = []
  readonly broken: BrokenModule[] = []
  #isAtWork = false
  #isWoken = false
  #restarting: Promise<void> = Promise.resolve()
  #stopped: Promise<void> | null = null

  /** Loads the modules; those that end or block the engine are left out. */
  static async load(parts: SupervisedEngineParts): Promise<SupervisedEngine> {
    const engine = new SupervisedEngine(parts)
    try {
      await engine.#untilLoaded()
    } catch (error) {
      await engine.stop()
      throw error
    }
    return engine
  }

  private constructor(parts: SupervisedEngineParts) {
    this.#parts = parts
    this.#beganAt = parts.clock.now()
    this.#thread = this.#begin()
    this.#claims = new ClaimWatch({
      ...parts,
      publish: parts.notices.publish,
      slots: () => parts.config.slots - this.#held,
      thread: () => (this.#isAtWork && this.#isTurning ? this.#thread : null),
      stalled: (thread, message) => this.#endStalled(thread, message),
    })
  }

  async start(access: EngineAccess): Promise<void> {
    this.#access = access
    await this.#thread.start(access)
    this.#open()
    this.#parts.quarantine?.start(access)
    // One that tries suspects claims no other runs.
    if (this.#parts.quarantine) this.#claims.start()
  }

  /** True while it has no run at work. */
  async isIdle(): Promise<boolean> {
    return this.#isAtWork && (await this.#parts.store.listLeases(this.#thread.id)).length === 0
  }

  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    return (this.#intake ?? this.#parts.store).saveDelivery(delivery)
  }

  get load(): EngineLoad {
    const { counts, fileLimits } = this.#thread
    const busy = this.#isAtWork ? this.#parts.config.slots - Math.max(0, counts.slots.free + this.#held) : 0
    const memory = this.#watch && { ...this.#watch.memory, isShort: this.#held > 0 }
    return { busy, fileLimits, memory }
  }

  /** One message per turn. */
  wake(): void {
    if (this.#isWoken || !this.#isAtWork) return
    this.#isWoken = true
    setImmediate(() => {
      this.#isWoken = false
      if (this.#isAtWork) this.#thread.wake()
    })
  }

  stop(): Promise<void> {
    this.#stopped ??= Promise.all([this.#stop(), this.#parts.quarantine?.stop()]).then(() => {})
    return this.#stopped
  }

  /** False while its loop is blocked, or a debugger may hold it. */
  get #isTurning(): boolean {
    return !debuggerUrl() && (this.#watch?.blockedMs ?? 0) < CLAIM_LOOK_MS
  }

  #begin(): EngineThread {
    const { begin, config, notices, clock } = this.#parts
    this.#beganAt = clock.now()
    const heard: EngineThreadParts['heard'] = (all) => {
      for (const notice of all) notices.publish(notice)
    }
    const thread = begin({ pulseMs: planLook(config), skipped: this.#skipped, broken: this.broken, heard })
    this.#held = 0
    const changed = (short: Shortage | null) => void this.#brake(thread, short)
    const failed = (error: unknown) =>
      notices.publish({ kind: 'fault', where: "watching the engine's memory", error: describeError(error) })
    const watch = new EngineWatch({ config, clock, thread, changed, isBusy: () => this.load.busy > 0, failed })
    this.#watch = watch
    void thread.ended.then((end) => {
      watch.stop()
      this.#receiveEnd(thread, watch.explain(end))
    })
    thread.loaded.then(
      () => watch.noteLoaded(),
      () => {},
    )
    return thread
  }

  /** Begins another thread after each one that a module has ended, without that module. */
  async #untilLoaded(): Promise<void> {
    for (;;) {
      const thread = this.#thread
      try {
        return await thread.loaded
      } catch (error) {
        if (this.#stopping.signal.aborted || thread.loading === null) throw error
        const isEnded = error instanceof UpshotError && error.code === 'not_running'
        if (!isEnded) await thread.end({ cause: 'replaced', error: describeError(error) })
        this.#skip(thread.loading, await thread.ended)
        this.#thread = this.#begin()
      }
    }
  }

  #skip(module: LoadingModule, { cause, error }: EngineEnd): void {
    const why = cause === 'blocked' ? `it blocked the engine for ${MAX_LOAD_MS / 1_000} s` : `it ended the engine`
    const message = cause === 'blocked' ? '' : ` (${error.message.replace(/\.$/, '')})`
    this.#skipped.push({ ...module, why: `${why} while it was loaded${message}` })
  }

  /** From now on, deliveries are claimed for the thread. */
  #open(): void {
    const thread = this.#thread
    this.#isAtWork = true
    this.#intake = new ClaimOnArrival({
      store: this.#parts.store,
      counts: thread.counts,
      claimFor: () => ({ worker: thread.id, codeHashes: thread.codeHashes }),
      arrived: (arrivals) => {
        if (thread === this.#thread && this.#isAtWork) thread.receive(arrivals)
      },
    })
  }

  /** Its passes may finish within `drain`. */
  async #endStalled(thread: EngineThread, message: string): Promise<void> {
    this.#isAtWork = false
    this.#intake = null
    await thread.drain(this.#parts.clock, this.#parts.config.drainMs + STOP_GRACE_MS)
    await thread.end({ cause: 'stalled', error: { name: 'Error', message } })
  }

  /** While memory is short, runs get a tenth of the slots. */
  async #brake({ id, counts }: EngineThread, short: Shortage | null): Promise<void> {
    const { config, notices } = this.#parts
    const others = Math.floor(config.slots * HELD)
    this.#held = short ? others : 0
    if (!short) {
      counts.slots.give(others)
      notices.publish({ kind: 'memory.enough' })
      return this.wake()
    }
    counts.slots.hold(others)
    const runs = await listAtWork(this.#parts.store, id).catch(() => [])
    notices.publish({ kind: 'memory.short', ...short, runs })
  }

  #receiveEnd(thread: EngineThread, end: EngineEnd): void {
    if (thread !== this.#thread || this.#stopping.signal.aborted) return
    this.#isAtWork = false
    this.#intake = null
    // Where a module ended it in a start, `untilLoaded` goes on.
    if (this.#access === null || (!this.#watch?.isLoaded && thread.loading)) return
    this.#restarting = this.#restart(thread, end).catch((error: unknown) => this.#giveUp(error))
  }

  async #restart(thread: EngineThread, end: EngineEnd): Promise<void> {
    const { clock, notices } = this.#parts
    const { signal } = this.#stopping
    this.#ends = countEnd(this.#ends, clock.now() - this.#beganAt)
    if (thread.loading) this.#skip(thread.loading, end)
    else this.#skipped.push(...(end.skipped ?? []))
    const buried = this.#bury(thread, end)
    if (end.cause === 'out_of_memory') await awaitFull(thread, this.#parts.config.engine.memoryBytes)
    if (!thread.isGone && !thread.loading) {
      // One that tries suspects ends at the first. A module would do it to the next process, too.
      const mayStay = end.cause !== 'out_of_memory' && this.#parts.quarantine !== undefined
      if (!mayStay || !this.#kept.leave(thread, notices.publish)) return endProcess(notices.publish, buried)
    }
    await buried
    await waitUntil(clock, clock.now() + this.#ends.pauseMs, signal)
    this.#thread = this.#begin()
    await this.#untilLoaded()
    signal.throwIfAborted()
    if (this.#access) await this.#thread.start(this.#access)
    if (!signal.aborted) this.#open()
  }

  /** An engine that cannot load or start is ended, and the next one tries again. */
  async #giveUp(error: unknown): Promise<void> {
    if (!this.#stopping.signal.aborted) await this.#thread.end({ cause: 'threw', error: describeError(error) })
  }

  /**
   * Says which runs were at work, and has the store blame them, unless a module is to blame. Tries
   * until that is written.
   */
  async #bury({ id, loading }: EngineThread, { cause, error, harm = null }: EngineEnd): Promise<void> {
    const { store, clock, notices } = this.#parts
    const { signal } = this.#stopping
    let isTold = false
    while (!signal.aborted) {
      try {
        const runs = loading ? [] : await listAtWork(store, id)
        const only = runs.length === 1 && cause !== 'stalled' ? runs.map(({ run }) => run) : []
        if (!isTold) notices.publish({ kind: 'engine.ended', cause, error, runs, guilty: harm?.runs ?? only })
        isTold = true
        // No run is to blame for a load, nor for what was not claimed.
        if (loading || cause === 'stalled') await store.stopWorker(id)
        else publishRecovery(notices.publish, await store.endWorker(id, harm))
        return
      } catch (fault) {
        notices.publish({ kind: 'fault', where: 'recovering the runs of an engine', error: describeError(fault) })
        await waitUntil(clock, clock.now() + RETRY_MS, signal)
      }
    }
  }

  /** An engine that does not stop within `drain` and a second is ended. */
  async #stop(): Promise<void> {
    const stopped = { cause: 'killed', error: { name: 'Error', message: 'The app stops.' } } as const
    this.#stopping.abort()
    void this.#claims.stop()
    // A restart would wait without end for a thread that a run has blocked in its start.
    if (!this.#isAtWork) await this.#thread.end(stopped)
    await this.#restarting
    const thread = this.#thread
    thread.counts.slots.close()
    await this.#intake?.settled()
    if (this.#isAtWork) await thread.drain(this.#parts.clock, this.#parts.config.drainMs + STOP_GRACE_MS)
    this.#isAtWork = false
    await thread.end(stopped)
    if (!thread.isGone || this.#kept.isAny) reportKept(this.#parts.notices.publish)
    if (this.#access) await this.#parts.store.stopWorker(thread.id)
  }
}
