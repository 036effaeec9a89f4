import { planRoutes, scheduleOf } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { type Failure, UpshotError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import type { FilesFor } from '../../engine/execute/run-context.ts'
import { Worker } from '../../engine/worker.ts'
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
  /** Opens the way to the Files API for one life of the engine. */
  openFiles(): { filesFor: FilesFor; close(): Promise<void> }
}

/** The real worker and scheduler from a start to a death: what a process would be. */
export class EngineLife {
  readonly killSwitch: KillSwitch
  /** The first fault that the engine told of. */
  fault: { where: string; error: Failure } | null = null
  readonly #parts: EngineParts
  readonly #worker: Worker
  readonly #scheduler: Scheduler
  readonly #takeBackTimers: () => void
  #over: Promise<void> = Promise.resolve()
  readonly #closeFiles: () => Promise<void>

  constructor(parts: EngineParts) {
    this.#parts = parts
    const { workflows, random, slots } = parts
    this.killSwitch = new KillSwitch(parts.store, parts.activity, parts.crash)
    this.killSwitch.onKill = () => this.#end()
    const { store } = this.killSwitch
    const { clock, takeBack } = parts.time.lend()
    const { filesFor, close } = parts.openFiles()
    this.#takeBackTimers = takeBack
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
      // Nobody else works on this store, so neither has anything to tell; each would be a stop on
      // the way of the clock.
      pollMs: Infinity,
      beatMs: Infinity,
    })
    const schedules = [...workflows.values()].flatMap((workflow) => {
      const schedule = scheduleOf(workflow)
      return schedule ? [{ workflow: workflow.id, schedule }] : []
    })
    this.#scheduler = new Scheduler({ store, clock, publish, schedules, lookMs: Infinity })
  }

  /** Takes back what an earlier life left, whoever it was, and goes to work. */
  async start(): Promise<void> {
    const { store, time } = this.#parts
    const anyAge = -1
    await store.recoverRuns(time.clock.now(), anyAge)
    await this.#worker.start()
    this.#scheduler.start()
  }

  /** True while a run is at work or the store owes an answer. */
  get isBusy(): boolean {
    return !this.killSwitch.isKilled && (this.killSwitch.pending > 0 || this.#worker.atWork.length > 0)
  }

  get atWork(): string[] {
    return this.#worker.atWork
  }

  /** A run with the last step that it finished, for a person. */
  describe(run: string): string {
    const last = this.killSwitch.saved.findLast((step) => step.run === run)
    return `${this.killSwitch.nameOf(run)} (${run}), ${last ? `behind its step "${last.key}",` : 'in its first step,'}`
  }

  wake(): void {
    this.#worker.wake()
  }

  /**
   * Ends it as SIGKILL would: what is not written is lost. Resolves when nothing more goes out to
   * the service.
   */
  async kill(): Promise<void> {
    this.killSwitch.kill()
    await this.#over
  }

  /** Throws what the engine could only report. */
  requireSound(): void {
    if (!this.fault) return
    const { where, error } = this.fault
    this.fault = null
    throw new UpshotError('internal', `The engine reported a fault in ${where}: ${error.message}`)
  }

  /**
   * Code of authors cannot be killed within a process, but told to stop, and kept from everything
   * of ours.
   */
  #end(): void {
    this.#takeBackTimers()
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
