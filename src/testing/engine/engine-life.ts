import { planRoutes, scheduleOf } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { type Failure, UpshotError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import { Worker } from '../../engine/worker.ts'
import type { FilesFor } from '../../engine/worker-parts.ts'
import { Scheduler } from '../../schedule/scheduler.ts'
import type { VirtualTime } from '../world/virtual-time.ts'
import type { Activity } from './activity.ts'
import type { CrashPoint } from './crash-point.ts'
import { KillSwitch } from './kill-switch.ts'
import type { WorkUnderWay } from './work-under-way.ts'

export interface EngineParts {
  store: Store
  time: VirtualTime
  activity: Activity
  workflows: ReadonlyMap<string, AnyWorkflow>
  publish: Publish
  random: () => number
  slots: number
  crash: CrashPoint | null
  work: WorkUnderWay
  /** Opens a Files client for one life of the engine. */
  openFiles(): { filesFor: FilesFor; close(): Promise<void> }
}

/** The real worker and scheduler, as one process runs them. */
export class EngineLife {
  readonly killSwitch: KillSwitch
  /** The first fault that the engine published. */
  fault: { where: string; error: Failure } | null = null
  readonly #parts: EngineParts
  readonly #worker: Worker
  readonly #scheduler: Scheduler
  readonly #cancelTimers: () => void
  #over: Promise<void> = Promise.resolve()
  readonly #closeFiles: () => Promise<void>

  constructor(parts: EngineParts) {
    this.#parts = parts
    const { workflows, random, slots } = parts
    this.killSwitch = new KillSwitch(parts.store, parts.activity, parts.crash)
    this.killSwitch.onKill = () => this.#end()
    const { store } = this.killSwitch
    const { clock, cancelAll } = parts.time.openTimers()
    const { filesFor, close } = parts.openFiles()
    this.#cancelTimers = cancelAll
    this.#closeFiles = close
    const publish: Publish = (notice) => this.#publish(notice)
    this.#worker = new Worker({
      ...{ store, clock, random, publish, filesFor, slots },
      findWorkflow: (id) => {
        const workflow = workflows.get(id)
        return workflow && parts.work.watch(workflow)
      },
      routes: () => [...workflows.values()].flatMap(planRoutes),
      drainMs: 0,
      // This store has no other writer to poll for, and each poll would stop the clock.
      pollMs: Infinity,
      beatMs: Infinity,
    })
    const schedules = [...workflows.values()].flatMap((workflow) => {
      const schedule = scheduleOf(workflow)
      return schedule ? [{ workflow: workflow.id, schedule }] : []
    })
    this.#scheduler = new Scheduler({ store, clock, publish, schedules, maxSleepMs: Infinity })
  }

  /** Recovers the runs of earlier lives, however recent their heartbeat, and starts. */
  async start(): Promise<void> {
    const { store, time } = this.#parts
    const anyAge = -1
    await store.recoverRuns(time.clock.now(), anyAge)
    await this.#worker.start()
    this.#scheduler.start()
  }

  /** True while a run has a pass or a store call is pending. */
  get isBusy(): boolean {
    return !this.killSwitch.isKilled && (this.killSwitch.pending > 0 || this.#worker.atWork.length > 0)
  }

  get atWork(): string[] {
    return this.#worker.atWork
  }

  /** A run with its last finished step, for error messages. */
  describe(run: string): string {
    const last = this.killSwitch.saved.findLast((step) => step.run === run)
    const place = last ? `behind its step "${last.key}",` : 'in its first step,'
    return `${this.killSwitch.workflowOf(run)} (${run}), ${place}`
  }

  wake(): void {
    this.#worker.wake()
  }

  /** Ends this life as SIGKILL would. Resolves when no more calls go to the service. */
  async kill(): Promise<void> {
    this.killSwitch.kill()
    await this.#over
  }

  /** Throws the fault that the engine published, if any. */
  requireSound(): void {
    if (!this.fault) return
    const { where, error } = this.fault
    this.fault = null
    throw new UpshotError('internal', `The engine reported a fault in ${where}: ${error.message}`)
  }

  /**
   * Code within the process cannot be killed: it is told to stop and cut off from store and timers.
   */
  #end(): void {
    this.#cancelTimers()
    for (const run of this.#worker.atWork) this.#worker.endPass(run)
    void this.#scheduler.stop()
    this.#over = this.#closeFiles()
  }

  #publish(notice: Parameters<Publish>[0]): void {
    if (this.killSwitch.isKilled) return
    if (notice.kind === 'fault') this.fault ??= notice
    this.#parts.publish(notice)
    if (notice.kind === 'run.queued') this.wake()
    this.#parts.activity.stir()
  }
}
